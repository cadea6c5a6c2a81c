create table download_journal (
  writer text primary key,
  applied bigint not null
);
