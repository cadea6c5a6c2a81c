alter table file add column cache_bytes_per_token integer;
alter table model add column cache_bytes_per_token integer;

drop trigger model_numbers_updated;
create trigger model_numbers_updated after update of
  downloads, likes, parameter_count, context_length, min_file_size_bytes, min_memory_bytes, cache_bytes_per_token,
  files_count, total_size_bytes on model
begin insert into model_change (model_seq, change, text_change)
  select new.seq, latest + 1, 0 from (select coalesce((select max(change) from model_change), 0) as latest) where true
  on conflict (model_seq) do update set change = excluded.change; end;
