alter table file add column upload_id text;

-- Columns that are joined need the same collation; otherwise the join cannot use their index.
alter table model_downloads alter column model_id type text collate "C";
alter table trash alter column object_key type text collate "C", alter column since type text collate "C";
alter table download_journal alter column writer type text collate "C";

create table lease (
  name text collate "C" primary key,
  holder text not null,
  until text not null
);

create table compatibility (
  oldest_migration text not null
);

insert into compatibility values ('0009_nodes');

create function notify_change() returns trigger language plpgsql as $$
begin perform pg_notify('shoal_changes', tg_argv[0]); return null; end $$;

create trigger account_changed after insert or delete or update of username on account
for each statement execute function notify_change('change');

create trigger model_changed after insert or delete or update of
  name, owner, display_name, description, license, architecture, parameter_count, context_length, tags, is_public,
  visibility_version, likes, quantizations, min_file_size_bytes, min_memory_bytes, files_count, total_size_bytes,
  updated_at on model
for each statement execute function notify_change('change');

create trigger model_card_changed after insert or delete or update on model_card
for each statement execute function notify_change('change');

create trigger file_changed after insert or delete or update of status, blob_hash on file
for each statement execute function notify_change('file');

create trigger blob_changed after insert or delete or update of object_key on blob
for each statement execute function notify_change('change');
