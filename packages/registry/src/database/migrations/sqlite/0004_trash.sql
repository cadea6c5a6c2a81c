create table trash (
  object_key text primary key,
  size_bytes integer not null,
  reason text not null,
  since text not null
);
create index trash_by_age on trash (since, object_key);
