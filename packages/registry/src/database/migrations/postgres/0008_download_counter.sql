create table model_downloads (
  model_id text primary key references model (id) on delete cascade,
  downloads bigint not null
) with (fillfactor = 50);

insert into model_downloads select id, downloads from model;

create function start_model_downloads() returns trigger language plpgsql as $$
begin insert into model_downloads values (new.id, new.downloads); return null; end $$;

create trigger model_downloads_started after insert on model
for each row execute function start_model_downloads();
