drop table model_search;
drop table search_term;
drop table model_tag;
drop table model_quantization;
drop index model_by_architecture;
drop index model_by_license;
drop index model_by_size;
drop index model_by_parameters;
drop index model_by_memory;
drop index model_by_owner;
drop index model_private;
create index model_of_owner on model (owner, is_public);

create table model_change (
  model_seq bigint primary key,
  change xid8 not null,
  text_change xid8 not null
);
create index model_change_in_order on model_change (change);

create function note_model_text() returns trigger language plpgsql as $$
begin insert into model_change values
  (case when tg_op = 'DELETE' then old.seq else new.seq end, pg_current_xact_id(), pg_current_xact_id())
  on conflict (model_seq) do update set change = excluded.change, text_change = excluded.text_change; return null; end $$;

create function note_model_numbers() returns trigger language plpgsql as $$
begin insert into model_change values (new.seq, pg_current_xact_id(), '0')
  on conflict (model_seq) do update set change = excluded.change; return null; end $$;

create trigger model_inserted_or_deleted after insert or delete on model
for each row execute function note_model_text();

create trigger model_text_updated after update of
  name, display_name, description, owner, architecture, license, tags, quantizations, is_public, created_at on model
for each row execute function note_model_text();

create trigger model_numbers_updated after update of
  downloads, likes, parameter_count, min_file_size_bytes, min_memory_bytes, files_count, total_size_bytes on model
for each row execute function note_model_numbers();
