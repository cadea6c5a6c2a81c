/** Complete sample responses of a registry, with members that tests can override. */
import type { ModelFile, ModelRecord, User } from '@shoal/protocol/client'

const time = '2026-01-31T12:00:00.000Z'

export function sampleModel(changes: Partial<ModelRecord> = {}): ModelRecord {
  return {
    id: '01890000-0000-7000-8000-000000000001',
    name: 'tide-7b',
    display_name: 'Tide 7B',
    description: 'A model for tests.',
    license: 'apache-2.0',
    architecture: 'llama',
    parameter_count: 7_241_732_096,
    context_length: 32_768,
    tags: ['chat'],
    downloads: 414_800,
    likes: 3_900,
    is_public: true,
    owner: 'ines',
    created_at: time,
    updated_at: time,
    liked: null,
    quantizations: ['Q4_K_M', 'Q8_0'],
    min_file_size_bytes: 4_370_000_000,
    min_memory_bytes: 5_700_000_000,
    cache_bytes_per_token: 131_072,
    readme: '# Tide',
    files_count: 2,
    total_size_bytes: 12_000_000_000,
    can_write: false,
    ...changes,
  }
}

export function sampleFile(changes: Partial<ModelFile> = {}): ModelFile {
  const { quantization = 'Q4_K_M' } = changes
  return {
    id: '01890000-0000-7000-8000-000000000002',
    model_id: '01890000-0000-7000-8000-000000000001',
    filename: `tide-7b-${quantization}.gguf`,
    quantization,
    file_size_bytes: 4_370_000_000,
    memory_bytes: 5_700_000_000,
    sha256_hash: 'a'.repeat(64),
    format: 'gguf',
    status: 'ready',
    status_detail: null,
    torrent_info_hash: 'b'.repeat(40),
    chunk_size: 16_777_216,
    seeders: 0,
    created_at: time,
    ...changes,
  }
}

export const sampleUser: User = {
  id: '01890000-0000-7000-8000-000000000003',
  username: 'ines',
  email: null,
  is_admin: false,
  created_at: time,
}

/** The responses for one model with its files. */
export function modelScript(model: ModelRecord, files: readonly ModelFile[]) {
  return {
    'GET /v1/models': { body: [model] },
    [`GET /v1/models/${model.name}`]: { body: model },
    [`GET /v1/models/${model.name}/files`]: { body: files },
  }
}
