import type { GgufRole } from '@shoal/model-file'
import type { ColumnType, Generated } from 'kysely'

/**
 * The tables. Both engines have the same columns. Times are RFC 3339 text, flags are 0 or 1, lists are JSON text, and
 * digests are bytes.
 */
export type Database = {
  account: AccountTable
  session: SessionTable
  api_key: ApiKeyTable
  account_network: AccountNetworkTable
  invitation: InvitationTable
  audit: AuditTable
  secret: { name: string; value: string }
  model: ModelTable
  /** Separate from `model`, whose rows must stay small. */
  model_card: { model_id: string; readme: string }
  /** Written by triggers, including when a model is deleted; see `search/model-changes.ts`. */
  model_change: { model_seq: number; change: string | number; text_change: string | number }
  /** Separate from `model` and small, because each download updates a row. A trigger adds a row for each new model. */
  model_downloads: { model_id: string; downloads: number }
  /** The accounts that models are shared with. */
  model_member: { model_id: string; account_id: string; can_write: Flag; created_at: string }
  /** The former names of renamed models. No model currently has one of these names. */
  former_name: { name: string; model_id: string; renamed_at: string }
  model_like: { model_id: string; account_id: string; created_at: string }
  file: FileTable
  upload_manifest: { file_id: string; chunk_hashes: Uint8Array }
  blob: BlobTable
  blob_chunk: { hash: Uint8Array; sha256_hash: string; chunk_index: number }
  /** For each process that writes a download journal, the sequence number of its last record that has been counted. */
  download_journal: { writer: string; applied: number }
  trash: TrashTable
  /** Work that only one node may do at a time. The holder's lease expires at `until`, by the database's clock. */
  lease: { name: string; holder: string; until: string }
}

type Flag = 0 | 1

export type AccountTable = {
  id: string
  username: string
  email: string | null
  /** Argon2id in PHC form; null for a system account, which cannot sign in. */
  password_hash: string | null
  is_admin: Flag
  is_system: Flag
  /** Maximum total size of the account's files, in bytes; null for the registry's default. */
  quota_bytes: number | null
  created_at: string
  /** When an administrator disabled the account. Its credentials are invalid until it is enabled again. */
  disabled_at: string | null
  /** When the account was removed. The row remains, so that nobody else can take the username. */
  removed_at: string | null
}

/** Permission to create an account even if registration is closed. */
export type InvitationTable = {
  id: string
  token_hash: Uint8Array
  /** A note about the invited person, visible only to administrators. */
  note: string | null
  /** Whether the new account becomes an administrator. */
  is_admin: Flag
  /** The administrator's username; null if the invitation was created on the registry's host. */
  created_by: string | null
  created_at: string
  expires_at: string
  used_at: string | null
  /** The username of the new account. */
  used_by: string | null
}

/** Security-relevant actions. Triggers prevent rows from being changed or deleted. */
export type AuditTable = {
  seq: Generated<number>
  at: string
  action: string
  /** The username of the account that performed the action; null for a command on the registry's host. */
  actor: string | null
  /** The credential that authorized the action: `session <id>`, `key <id>`, `invitation <id>`, `password` or `host`. */
  credential: string
  /** The client's IP address; null for a command on the registry's host. */
  address: string | null
  /** What the action affected, for example the kind `model` and the model's name. */
  subject_kind: string
  subject: string
  /** What changed, as a JSON object. */
  detail: string
}

export type SessionTable = {
  id: string
  account_id: string
  token_hash: Uint8Array
  user_agent: string | null
  created_at: string
  last_used_at: string | null
  expires_at: string
}

/** The networks from which an account has signed in recently. */
export type AccountNetworkTable = {
  /** A keyed hash of the username and the network. */
  network_hash: Uint8Array
  account_id: string
  last_signed_in_at: string
}

export type ApiKeyTable = {
  id: string
  account_id: string
  name: string
  prefix: string
  token_hash: Uint8Array
  /** JSON array of scopes. */
  scopes: string
  created_at: string
  last_used_at: string | null
  expires_at: string | null
}

export type ModelTable = {
  /** The order of insertion. */
  seq: Generated<number>
  id: string
  name: string
  owner: string
  display_name: string
  description: string | null
  license: string | null
  architecture: string | null
  parameter_count: number | null
  context_length: number | null
  /**
   * JSON array of field names. A name without a prefix is one of the fields above that a user has set; its value is not
   * taken from files. A name with the prefix `card:` is a field whose value is taken from the model's card (`license`,
   * `tags`).
   */
  set_by_hand: string
  tags: string
  is_public: Flag
  /** Increases with every change of visibility, so that older capabilities and torrents become invalid. */
  visibility_version: number
  /** A copy of the count in `model_downloads`, for sorting. It may be up to a second old. */
  downloads: number
  likes: number
  /** The next six columns are derived from the model's ready files, so that listing models reads only one table. */
  quantizations: string
  min_file_size_bytes: number | null
  min_memory_bytes: number | null
  /** The value of the first ready file that has one. */
  cache_bytes_per_token: number | null
  files_count: number
  total_size_bytes: number
  created_at: string
  updated_at: string
}

/** `files/rows/file-states.ts` describes the states and the transitions between them. */
export type FileStatus = 'uploading' | 'processing' | 'ready' | 'failed' | 'expired'

export type FileTable = {
  id: string
  model_id: string
  filename: string
  file_size_bytes: number
  sha256_hash: string
  chunk_size: number
  /** Changed only by `moveFiles`, which checks the transition. */
  status: ColumnType<FileStatus, FileStatus, never>
  status_detail: string | null
  quantization: string | null
  /** Info hashes of the torrent without and with `private=1`; the model's visibility decides which one is used. */
  public_info_hash: string | null
  private_info_hash: string | null
  /** SHA-1('req2' + public_info_hash): identifies the torrent in an encrypted connection to the metadata peer. */
  public_req2_hash: string | null
  /** JSON text: `metadata` is the metadata in the GGUF header, and `tensors` is a summary of the tensors. */
  metadata: string | null
  tensors: string | null
  /** The next four columns are null until the file is ready. */
  role: GgufRole | null
  architecture: string | null
  parameter_count: number | null
  context_length: number | null
  /**
   * Memory needed to run the file, from `findFileMemory`; null until the file is ready, or if the memory is unknown.
   */
  memory_bytes: number | null
  /**
   * Size of the KV cache per token, from `findFileCacheBytes`; null until the file is ready, or if the size is unknown.
   */
  cache_bytes_per_token: number | null
  /**
   * The blob that contains the file's bytes. Set when the file becomes ready, or from the start if the blob already
   * exists and the uploader may read it.
   */
  blob_hash: string | null
  /** The object in the store that contains an upload's chunks; null if `blob_hash` is set or the chunks are removed. */
  object_key: string | null
  /** The store's ID of the upload; null until the store has started the upload, and in stores that need no such ID. */
  upload_id: string | null
  upload_expires_at: string
  lease_holder: string | null
  lease_until: string | null
  attempts: number
  ready_at: string | null
  created_at: string
}

export type BlobTable = {
  sha256_hash: string
  object_key: string
  size_bytes: number
  chunk_size: number
  /** Concatenated SHA-256 digests, 32 bytes each. */
  chunk_hashes: Uint8Array
  piece_length: number
  /** Concatenated SHA-1 digests, 20 bytes each (BEP 3). */
  piece_hashes: Uint8Array
  created_at: string
}

/** Objects that nothing refers to. They stay in the store for the retention period. */
export type TrashTable = {
  object_key: string
  size_bytes: number
  /**
   * `deleted`: the last file with these bytes was deleted. `replaced`: the bytes were damaged, and another object has
   * replaced them. `unknown`: the object was in the store, but no row referred to it.
   */
  reason: 'deleted' | 'replaced' | 'unknown'
  since: string
}

/**
 * The columns that identify the object with a file's bytes: `object_key` during an upload, and `blob_hash` if the bytes
 * are stored as a blob.
 */
export type FileBytes = Pick<FileTable, 'object_key' | 'blob_hash'>
