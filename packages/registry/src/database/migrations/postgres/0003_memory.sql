alter table file add column memory_bytes bigint;
alter table model add column min_memory_bytes bigint;

create index model_by_memory on model (min_memory_bytes, is_public, owner);
