alter table file add column cache_bytes_per_token bigint;
alter table model add column cache_bytes_per_token bigint;

drop trigger model_numbers_updated on model;
create trigger model_numbers_updated after update of
  downloads, likes, parameter_count, context_length, min_file_size_bytes, min_memory_bytes, cache_bytes_per_token,
  files_count, total_size_bytes on model
for each row execute function note_model_numbers();
