create table account (
  id text collate "C" primary key,
  username text collate "C" not null unique,
  email text,
  password_hash text,
  is_admin integer not null default 0,
  is_system integer not null default 0,
  quota_bytes bigint,
  created_at text collate "C" not null
);

create table session (
  id text collate "C" primary key,
  account_id text collate "C" not null references account (id) on delete cascade,
  token_hash bytea not null unique,
  user_agent text,
  created_at text collate "C" not null,
  last_used_at text collate "C",
  expires_at text collate "C" not null
);
create index session_of_account on session (account_id);
create index session_expiry on session (expires_at);

create table api_key (
  id text collate "C" primary key,
  account_id text collate "C" not null references account (id) on delete cascade,
  name text not null,
  prefix text not null,
  token_hash bytea not null unique,
  scopes text not null,
  created_at text collate "C" not null,
  last_used_at text collate "C",
  expires_at text collate "C"
);
create index api_key_of_account on api_key (account_id);

create table secret (
  name text collate "C" primary key,
  value text not null
);

create table model (
  seq bigint generated always as identity primary key,
  id text collate "C" not null unique,
  name text collate "C" not null unique,
  owner text collate "C" not null references account (username),
  display_name text not null,
  description text,
  license text collate "C",
  architecture text collate "C",
  parameter_count bigint,
  context_length bigint,
  set_by_hand text not null default '[]',
  tags text not null default '[]',
  is_public integer not null,
  visibility_version integer not null default 1,
  downloads bigint not null default 0,
  likes bigint not null default 0,
  quantizations text not null default '[]',
  min_file_size_bytes bigint,
  files_count integer not null default 0,
  total_size_bytes bigint not null default 0,
  created_at text collate "C" not null,
  updated_at text collate "C" not null
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
  model_id text collate "C" primary key references model (id) on delete cascade,
  readme text not null
);

create table model_tag (
  model_id text collate "C" not null references model (id) on delete cascade,
  tag text collate "C" not null,
  primary key (tag, model_id)
);
create index model_tag_of_model on model_tag (model_id);

create table model_quantization (
  model_id text collate "C" not null references model (id) on delete cascade,
  quantization text collate "C" not null,
  primary key (quantization, model_id)
);
create index model_quantization_of_model on model_quantization (model_id);

create table model_like (
  model_id text collate "C" not null references model (id) on delete cascade,
  account_id text collate "C" not null references account (id) on delete cascade,
  created_at text collate "C" not null,
  primary key (model_id, account_id)
);
create index model_like_of_account on model_like (account_id);

create table blob (
  sha256_hash text collate "C" primary key,
  object_key text collate "C" not null unique,
  size_bytes bigint not null,
  chunk_size bigint not null,
  chunk_hashes bytea not null,
  piece_length bigint not null,
  piece_hashes bytea not null,
  created_at text collate "C" not null
);

create table blob_chunk (
  hash bytea not null,
  sha256_hash text collate "C" not null references blob (sha256_hash) on delete cascade,
  chunk_index integer not null,
  primary key (hash, sha256_hash, chunk_index)
);
create index blob_chunk_of_blob on blob_chunk (sha256_hash);

create table file (
  id text collate "C" primary key,
  model_id text collate "C" not null references model (id) on delete cascade,
  filename text collate "C" not null,
  file_size_bytes bigint not null,
  sha256_hash text collate "C" not null,
  chunk_size bigint not null,
  status text collate "C" not null,
  status_detail text,
  quantization text collate "C",
  public_info_hash text collate "C",
  private_info_hash text collate "C",
  metadata text,
  tensors text,
  role text,
  architecture text,
  parameter_count bigint,
  context_length bigint,
  blob_hash text collate "C" references blob (sha256_hash),
  object_key text collate "C",
  upload_expires_at text collate "C" not null,
  lease_holder text,
  lease_until text collate "C",
  attempts integer not null default 0,
  ready_at text collate "C",
  created_at text collate "C" not null,
  unique (model_id, filename)
);
create index file_of_blob on file (blob_hash, status, model_id);
create index file_unfinished on file (status, upload_expires_at) where status <> 'ready';
create index file_of_upload on file (object_key) where object_key is not null;
create index file_by_size on file (model_id, status, file_size_bytes);

create table upload_manifest (
  file_id text collate "C" primary key references file (id) on delete cascade,
  chunk_hashes bytea not null
);

create table search_term (
  term text collate "C" primary key
);

create extension if not exists pg_trgm;

create table model_search (
  model_id text collate "C" primary key references model (id) on delete cascade,
  is_public integer not null,
  document tsvector not null
);
create index model_search_document on model_search using gin (document) with (fastupdate = off);

create index search_term_trigram on search_term using gin (term gin_trgm_ops);
