/** Records of a registry, for tests. */
import type { AdminUser, ApiKey, Me, Model, ModelFile, ModelRecord, Usage } from '@shoal/protocol'

const created_at = '2026-03-01T09:00:00Z'

const usage: Usage = { stored_bytes: 0, quota_bytes: null, models_count: 0, api_keys_count: 0 }

export const makeMe = (username: string, changes: Partial<Me> = {}): Me => ({
  id: `id of ${username}`,
  username,
  email: null,
  is_admin: false,
  role: 'user',
  created_at,
  usage,
  ...changes,
})

/** An account as administrators see it. */
export const makeAccount = (username: string, changes: Partial<AdminUser> = {}): AdminUser => ({
  id: `id of ${username}`,
  username,
  email: null,
  role: 'user',
  created_at,
  disabled_at: null,
  last_used_at: null,
  own_quota_bytes: null,
  sessions_count: 1,
  usage,
  ...changes,
})

export const makeKey = (name: string, changes: Partial<ApiKey> = {}): ApiKey => ({
  id: `id of ${name}`,
  name,
  prefix: 'shk_abcd',
  scopes: ['read'],
  created_at,
  last_used_at: null,
  expires_at: null,
  ...changes,
})

/** A public model of `ana`. */
export const makeModel = (name: string, changes: Partial<Model> = {}): Model => ({
  id: `id-of-${name}`,
  name,
  display_name: name,
  description: null,
  license: null,
  architecture: null,
  parameter_count: null,
  context_length: null,
  tags: [],
  downloads: 0,
  likes: 0,
  is_public: true,
  owner: 'ana',
  created_at,
  updated_at: created_at,
  liked: null,
  quantizations: [],
  min_file_size_bytes: null,
  min_memory_bytes: null,
  cache_bytes_per_token: null,
  ...changes,
})

export const makeModelRecord = (name: string, changes: Partial<ModelRecord> = {}): ModelRecord => ({
  ...makeModel(name),
  readme: null,
  files_count: 0,
  total_size_bytes: 0,
  can_write: false,
  ...changes,
})

/** A file that is ready. */
export const makeFile = (filename: string, changes: Partial<ModelFile> = {}): ModelFile => ({
  id: `id-of-${filename}`,
  model_id: 'id-of-tide',
  filename,
  quantization: 'Q8_0',
  file_size_bytes: 4_000_000_000,
  memory_bytes: 5_000_000_000,
  sha256_hash: 'a'.repeat(64),
  format: 'gguf',
  status: 'ready',
  status_detail: null,
  torrent_info_hash: 'b'.repeat(40),
  chunk_size: 16_777_216,
  seeders: 0,
  created_at,
  ...changes,
})
