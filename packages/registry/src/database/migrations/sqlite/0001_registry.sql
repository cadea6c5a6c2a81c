create table account (
  id text primary key,
  username text not null unique,
  email text,
  password_hash text,
  is_admin integer not null default 0,
  is_system integer not null default 0,
  quota_bytes integer,
  created_at text not null
);

create table session (
  id text primary key,
  account_id text not null references account (id) on delete cascade,
  token_hash blob not null unique,
  user_agent text,
  created_at text not null,
  last_used_at text,
  expires_at text not null
);
create index session_of_account on session (account_id);
create index session_expiry on session (expires_at);

create table api_key (
  id text primary key,
  account_id text not null references account (id) on delete cascade,
  name text not null,
  prefix text not null,
  token_hash blob not null unique,
  scopes text not null,
  created_at text not null,
  last_used_at text,
  expires_at text
);
create index api_key_of_account on api_key (account_id);

create table secret (
  name text primary key,
  value text not null
);

create table model (
  seq integer primary key autoincrement,
  id text not null unique,
  name text not null unique,
  owner text not null references account (username),
  display_name text not null,
  description text,
  license text,
  architecture text,
  parameter_count integer,
  context_length integer,
  set_by_hand text not null default '[]',
  tags text not null default '[]',
  is_public integer not null,
  visibility_version integer not null default 1,
  downloads integer not null default 0,
  likes integer not null default 0,
  quantizations text not null default '[]',
  min_file_size_bytes integer,
  files_count integer not null default 0,
  total_size_bytes integer not null default 0,
  created_at text not null,
  updated_at text not null
);
create index model_by_downloads on model (downloads, id, is_public, owner);
create index model_by_likes on model (likes, id, is_public, owner);
create index model_by_age on model (created_at, id, is_public, owner);
create index model_by_architecture on model (architecture, downloads, id, is_public, owner);
create index model_by_license on model (license, downloads, id, is_public, owner);
create index model_by_size on model (min_file_size_bytes, is_public, owner);
create index model_by_parameters on model (parameter_count, is_public, owner);
create index model_private on model (owner) where is_public = 0;
create index model_by_owner on model (owner, downloads, id, is_public);


create table model_card (
  model_id text primary key references model (id) on delete cascade,
  readme text not null
);

create table model_tag (
  model_id text not null references model (id) on delete cascade,
  tag text not null,
  primary key (tag, model_id)
) without rowid;
create index model_tag_of_model on model_tag (model_id);

create table model_quantization (
  model_id text not null references model (id) on delete cascade,
  quantization text not null,
  primary key (quantization, model_id)
) without rowid;
create index model_quantization_of_model on model_quantization (model_id);

create table model_like (
  model_id text not null references model (id) on delete cascade,
  account_id text not null references account (id) on delete cascade,
  created_at text not null,
  primary key (model_id, account_id)
) without rowid;
create index model_like_of_account on model_like (account_id);

create table blob (
  sha256_hash text primary key,
  object_key text not null unique,
  size_bytes integer not null,
  chunk_size integer not null,
  chunk_hashes blob not null,
  piece_length integer not null,
  piece_hashes blob not null,
  created_at text not null
);

create table blob_chunk (
  hash blob not null,
  sha256_hash text not null references blob (sha256_hash) on delete cascade,
  chunk_index integer not null,
  primary key (hash, sha256_hash, chunk_index)
) without rowid;
create index blob_chunk_of_blob on blob_chunk (sha256_hash);

create table file (
  id text primary key,
  model_id text not null references model (id) on delete cascade,
  filename text not null,
  file_size_bytes integer not null,
  sha256_hash text not null,
  chunk_size integer not null,
  status text not null,
  status_detail text,
  quantization text,
  public_info_hash text,
  private_info_hash text,
  metadata text,
  tensors text,
  role text,
  architecture text,
  parameter_count integer,
  context_length integer,
  blob_hash text references blob (sha256_hash),
  object_key text,
  upload_expires_at text not null,
  lease_holder text,
  lease_until text,
  attempts integer not null default 0,
  ready_at text,
  created_at text not null,
  unique (model_id, filename)
);
create index file_of_blob on file (blob_hash, status, model_id);
create index file_unfinished on file (status, upload_expires_at) where status <> 'ready';
create index file_of_upload on file (object_key) where object_key is not null;
create index file_by_size on file (model_id, status, file_size_bytes);

create table upload_manifest (
  file_id text primary key references file (id) on delete cascade,
  chunk_hashes blob not null
);

create table search_term (
  id integer primary key,
  term text not null unique
);

create virtual table model_search using fts5 (
  is_public unindexed, name, display_name, tags, architecture, description,
  tokenize = 'unicode61', prefix = '2 3', columnsize = 1
);

create virtual table search_term_trigram using fts5 (term, tokenize = 'trigram', detail = 'none');

create trigger search_term_added after insert on search_term
begin insert into search_term_trigram (rowid, term) values (new.id, '^^' || new.term || '$'); end;

create trigger search_term_gone after delete on search_term
begin delete from search_term_trigram where rowid = old.id; end;
