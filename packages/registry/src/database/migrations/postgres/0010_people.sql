alter table account add column disabled_at text, add column removed_at text;

create table invitation (
  id text collate "C" primary key,
  token_hash bytea not null unique,
  note text,
  is_admin integer not null,
  created_by text,
  created_at text collate "C" not null,
  expires_at text collate "C" not null,
  used_at text,
  used_by text
);

create table model_member (
  model_id text collate "C" not null references model (id) on delete cascade,
  account_id text collate "C" not null references account (id) on delete cascade,
  can_write integer not null,
  created_at text not null,
  primary key (model_id, account_id)
);
create index model_member_of_account on model_member (account_id);

create table audit (
  seq bigint generated always as identity primary key,
  at text not null,
  action text not null,
  actor text collate "C",
  credential text not null,
  address text,
  subject_kind text not null,
  subject text collate "C" not null,
  detail text not null
);
create index audit_of_actor on audit (actor, seq);
create index audit_of_subject on audit (subject, seq);

create function refuse_audit_change() returns trigger language plpgsql as $$
begin raise exception 'audit entries cannot be changed or deleted'; end $$;

create trigger audit_append_only before update or delete or truncate on audit
for each statement execute function refuse_audit_change();

-- Pages show whether an account exists.
drop trigger account_changed on account;
create trigger account_changed after insert or delete or update of username, removed_at on account
for each statement execute function notify_change('change');
