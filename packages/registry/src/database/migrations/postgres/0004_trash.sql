create table trash (
  object_key text primary key,
  size_bytes bigint not null,
  reason text not null,
  since text not null
);
create index trash_by_age on trash (since, object_key);
