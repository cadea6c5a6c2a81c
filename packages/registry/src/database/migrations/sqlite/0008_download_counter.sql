create table model_downloads (
  model_id text primary key references model (id) on delete cascade,
  downloads integer not null
) without rowid;

insert into model_downloads select id, downloads from model;

create trigger model_downloads_started after insert on model
begin insert into model_downloads values (new.id, new.downloads); end;
