drop table model_search;
drop trigger search_term_added;
drop trigger search_term_gone;
drop table search_term_trigram;
drop table search_term;
drop table model_tag;
drop table model_quantization;
drop index model_by_architecture;
drop index model_by_license;
drop index model_by_size;
drop index model_by_parameters;
drop index model_by_memory;
drop index model_by_owner;
drop index model_private;
create index model_of_owner on model (owner, is_public);

create table model_change (
  model_seq integer primary key,
  change integer not null,
  text_change integer not null
);
create index model_change_in_order on model_change (change);

create trigger model_inserted after insert on model
begin insert into model_change (model_seq, change, text_change)
  select new.seq, latest + 1, latest + 1 from (select coalesce((select max(change) from model_change), 0) as latest) where true
  on conflict (model_seq) do update set change = excluded.change, text_change = excluded.text_change; end;

create trigger model_deleted after delete on model
begin insert into model_change (model_seq, change, text_change)
  select old.seq, latest + 1, latest + 1 from (select coalesce((select max(change) from model_change), 0) as latest) where true
  on conflict (model_seq) do update set change = excluded.change, text_change = excluded.text_change; end;

create trigger model_text_updated after update of
  name, display_name, description, owner, architecture, license, tags, quantizations, is_public, created_at on model
begin insert into model_change (model_seq, change, text_change)
  select new.seq, latest + 1, latest + 1 from (select coalesce((select max(change) from model_change), 0) as latest) where true
  on conflict (model_seq) do update set change = excluded.change, text_change = excluded.text_change; end;

create trigger model_numbers_updated after update of
  downloads, likes, parameter_count, min_file_size_bytes, min_memory_bytes, files_count, total_size_bytes on model
begin insert into model_change (model_seq, change, text_change)
  select new.seq, latest + 1, 0 from (select coalesce((select max(change) from model_change), 0) as latest) where true
  on conflict (model_seq) do update set change = excluded.change; end;
