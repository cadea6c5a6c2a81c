create table download_journal (
  writer text primary key,
  applied integer not null
);
