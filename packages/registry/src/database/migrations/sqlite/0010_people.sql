alter table account add column disabled_at text;
alter table account add column removed_at text;

create table invitation (
  id text primary key,
  token_hash blob not null unique,
  note text,
  is_admin integer not null,
  created_by text,
  created_at text not null,
  expires_at text not null,
  used_at text,
  used_by text
);

create table model_member (
  model_id text not null references model (id) on delete cascade,
  account_id text not null references account (id) on delete cascade,
  can_write integer not null,
  created_at text not null,
  primary key (model_id, account_id)
) without rowid;
create index model_member_of_account on model_member (account_id);

create table audit (
  seq integer primary key autoincrement,
  at text not null,
  action text not null,
  actor text,
  credential text not null,
  address text,
  subject_kind text not null,
  subject text not null,
  detail text not null
);
create index audit_of_actor on audit (actor, seq);
create index audit_of_subject on audit (subject, seq);

create trigger audit_unchangeable before update on audit
begin select raise(abort, 'audit entries cannot be changed'); end;

create trigger audit_undeletable before delete on audit
begin select raise(abort, 'audit entries cannot be deleted'); end;
