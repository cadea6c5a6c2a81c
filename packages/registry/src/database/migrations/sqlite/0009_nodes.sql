alter table file add column upload_id text;

create table lease (
  name text primary key,
  holder text not null,
  until text not null
);

create table compatibility (
  oldest_migration text not null
);

insert into compatibility values ('0009_nodes');
