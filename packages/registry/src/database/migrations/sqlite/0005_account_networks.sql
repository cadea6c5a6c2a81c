create table account_network (
  network_hash blob primary key,
  account_id text not null references account (id) on delete cascade,
  last_signed_in_at text not null
) without rowid;
create index account_network_of_account on account_network (account_id, last_signed_in_at);
create index account_network_age on account_network (last_signed_in_at);
