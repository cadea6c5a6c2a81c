/** Fills an empty registry with made-up models, in one transaction. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { computeMinimumMemory } from '@shoal/model-file'
import { memoryNeeded } from '@shoal/model-file/choices'
import { adoptStore, readRegistryConfig } from '@shoal/registry'
import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import { connect } from '../../packages/registry/src/database/connect.ts'
import type { Database } from '../../packages/registry/src/database/schema.ts'
import {
  type CatalogueFile,
  type CatalogueModel,
  catalogue,
  type FileHeader,
  owners,
} from '../harness/catalogue.ts'
import type { SeedInput } from '../harness/filled-registry.ts'
import { listOwners, shownModels } from '../screens/shown/models.ts'
import { answer, readInput } from './child.ts'

const modelBatchSize = 500
const chunkBatchSize = 2_000
/** Files are inserted in batches, because SQLite allows only 32,766 values in a statement. */
const fileBatchSize = 1_000

const input = await readInput<SeedInput>()
const connection = await connect({ ...input, onConnectionLost: () => undefined })
const { models, accounts } = input.models === 'shown' ? toBeShown() : toBeCounted(input.models)
await connection.db.transaction().execute(async (trx) => {
  await insertAccounts(trx, accounts)
  let batch: CatalogueModel[] = []
  for (const model of models) {
    batch.push(model)
    if (batch.length < modelBatchSize) continue
    await insertModels(trx, batch)
    batch = []
  }
  if (batch.length > 0) await insertModels(trx, batch)
})
// In a registry that has grown to this size, autovacuum would already have run.
if (connection.engine === 'postgres') await sql`vacuum analyze`.execute(connection.db)
await connection.close()
// The files of made-up models are not in the store, so the registry would otherwise assume that the store belongs to
// another registry.
mkdirSync(join(input.dataDirectory, 'store'), { recursive: true })
await adoptStore(
  readRegistryConfig({ DATABASE_URL: input.databaseUrl }, { data: input.dataDirectory }),
)
await answer('seeded')
process.disconnect()

function toBeShown() {
  const models = shownModels()
  return { models, accounts: listOwners(models) }
}

function toBeCounted(count: number) {
  const createdAt = new Date(0).toISOString()
  const accounts = owners.map((username) => ({ username, createdAt }))
  return { models: catalogue(count), accounts }
}

/** Inserts accounts. If an account already exists, updates only its `createdAt`. */
async function insertAccounts(
  db: Kysely<Database>,
  accounts: readonly { username: string; createdAt: string }[],
) {
  for (let at = 0; at < accounts.length; at += modelBatchSize) {
    const rows = accounts.slice(at, at + modelBatchSize).map(({ username, createdAt }) => ({
      id: crypto.randomUUID(),
      username,
      email: null,
      password_hash: null,
      is_admin: 0 as const,
      is_system: 0 as const,
      quota_bytes: null,
      created_at: createdAt,
    }))
    await db
      .insertInto('account')
      .values(rows)
      .onConflict((taken) =>
        taken
          .column('username')
          .doUpdateSet(({ ref }) => ({ created_at: ref('excluded.created_at') })),
      )
      .execute()
  }
}

async function insertModels(db: Kysely<Database>, models: CatalogueModel[]) {
  await db.insertInto('model').values(models.map(modelRow)).execute()
  const cards = models.map(({ id, readme }) => ({ model_id: id, readme }))
  await db.insertInto('model_card').values(cards).execute()
  const files = models.flatMap((model) => model.files.map((file) => ({ model, file })))
  const blobs = files.map(({ model, file }) => ({
    sha256_hash: file.sha256_hash,
    object_key: file.id,
    size_bytes: file.fileSizeBytes,
    chunk_size: file.chunkSize,
    chunk_hashes: file.chunkHashes,
    piece_length: file.chunkSize,
    piece_hashes: new Uint8Array(20),
    created_at: model.createdAt,
  }))
  await db.insertInto('blob').values(blobs).execute()
  const chunks = files.flatMap(({ file: { sha256_hash, chunkHashes } }) =>
    Array.from({ length: chunkHashes.length / 32 }, (_, chunk_index) => ({
      hash: chunkHashes.subarray(chunk_index * 32, chunk_index * 32 + 32),
      sha256_hash,
      chunk_index,
    })),
  )
  for (let at = 0; at < chunks.length; at += chunkBatchSize) {
    const rows = chunks.slice(at, at + chunkBatchSize)
    await db.insertInto('blob_chunk').values(rows).execute()
  }
  const fileRows = files.map(({ model, file }) => fileRow(model, file))
  for (let at = 0; at < fileRows.length; at += fileBatchSize) {
    await db
      .insertInto('file')
      .values(fileRows.slice(at, at + fileBatchSize))
      .execute()
  }
}

function modelRow(model: CatalogueModel) {
  const fileSizes = model.files.map(({ fileSizeBytes }) => fileSizeBytes)
  return {
    id: model.id,
    name: model.name,
    owner: model.owner,
    display_name: model.displayName,
    description: model.description,
    license: model.license,
    architecture: model.architecture,
    parameter_count: model.parameterCount,
    context_length: model.contextLength,
    set_by_hand: '[]',
    tags: JSON.stringify(model.tags),
    is_public: model.isPublic ? (1 as const) : (0 as const),
    visibility_version: 1,
    downloads: model.downloads,
    likes: model.likes,
    quantizations: JSON.stringify([...new Set(model.files.map((file) => file.quantization))]),
    min_file_size_bytes: Math.min(...fileSizes),
    min_memory_bytes: computeMinimumMemory(model.files.map((file) => readyFile(model, file))),
    files_count: fileSizes.length,
    total_size_bytes: fileSizes.reduce((sum, size) => sum + size, 0),
    created_at: model.createdAt,
    updated_at: model.createdAt,
  }
}

function readyFile(model: CatalogueModel, file: CatalogueFile) {
  const { role, memoryBytes } = file.header ?? usualHeader(model, file)
  return {
    filename: file.filename,
    quantization: file.quantization,
    file_size_bytes: file.fileSizeBytes,
    role,
    memory_bytes: memoryBytes,
  }
}

function fileRow(model: CatalogueModel, file: CatalogueFile) {
  const { metadata, tensors } = file.header ?? usualHeader(model, file)
  return {
    ...readyFile(model, file),
    id: file.id,
    model_id: model.id,
    sha256_hash: file.sha256_hash,
    chunk_size: file.chunkSize,
    status: 'ready' as const,
    status_detail: null,
    public_info_hash: file.sha256_hash.slice(0, 40),
    private_info_hash: file.sha256_hash.slice(24),
    metadata: JSON.stringify(metadata),
    tensors: JSON.stringify(tensors),
    architecture: model.architecture,
    parameter_count: tensors.parameters,
    context_length: model.contextLength,
    blob_hash: file.sha256_hash,
    object_key: null,
    upload_expires_at: model.createdAt,
    lease_holder: null,
    lease_until: null,
    attempts: 1,
    ready_at: model.createdAt,
    created_at: model.createdAt,
  }
}

/** Returns a header with about as many entries as a real one. */
function usualHeader(model: CatalogueModel, file: CatalogueFile): FileHeader {
  const { architecture, displayName, contextLength, parameterCount } = model
  const { quantization, fileSizeBytes } = file
  const sizes = ['embedding_length', 'block_count', 'feed_forward_length', 'attention.head_count']
  return {
    role: 'model',
    metadata: {
      'general.architecture': architecture,
      'general.name': displayName,
      'general.quantization_version': 2,
      [`${architecture}.context_length`]: contextLength,
      ...Object.fromEntries(sizes.map((name) => [`${architecture}.${name}`, 4096])),
      'tokenizer.ggml.model': 'gpt2',
      'tokenizer.ggml.tokens': { type: 'string', length: 128_256, items: [] },
      'tokenizer.ggml.merges': { type: 'string', length: 280_147, items: [] },
      'tokenizer.chat_template': '{% for message in messages %}{{ message.content }}{% endfor %}',
    },
    tensors: {
      count: 291,
      parameters: parameterCount,
      types: {
        [quantization]: { count: 226, bytes: fileSizeBytes, parameters: parameterCount },
      },
    },
    memoryBytes: memoryNeeded({ file_size_bytes: fileSizeBytes }),
  }
}
