/** Migration steps that use the stored headers of existing files to fill columns that a migration added. */
import {
  computeMinimumMemory,
  findFileCacheBytes,
  findFileMemory,
  type MetadataFacts,
  readMetadataFacts,
} from '@shoal/model-file'
import type { Kysely } from 'kysely'
import type { Database } from './schema.ts'

const batchSize = 1_000

/**
 * Fills the `memory_bytes` of ready files, and the `min_memory_bytes` of models. A migration that changes the formula
 * can call this function again.
 */
export async function fillMemory(db: Kysely<Database>): Promise<void> {
  for await (const modelId of listModelIds(db)) {
    const files = await listReadyFiles(db, modelId)
    const filled = []
    for (const file of files) {
      const memory_bytes = findFileMemory(await readFacts(db, file), file.file_size_bytes)
      await db.updateTable('file').set({ memory_bytes }).where('id', '=', file.id).execute()
      filled.push({ ...file, memory_bytes })
    }
    await db
      .updateTable('model')
      .set({ min_memory_bytes: computeMinimumMemory(filled) })
      .where('id', '=', modelId)
      .execute()
  }
}

/** Fills the `cache_bytes_per_token` of ready files and of their models. */
export async function fillCacheBytes(db: Kysely<Database>): Promise<void> {
  for await (const modelId of listModelIds(db)) {
    const files = await listReadyFiles(db, modelId)
    let first: number | null = null
    for (const file of files) {
      const cache_bytes_per_token = findFileCacheBytes(await readFacts(db, file))
      if (cache_bytes_per_token === null) continue
      const change = { cache_bytes_per_token }
      await db.updateTable('file').set(change).where('id', '=', file.id).execute()
      first ??= cache_bytes_per_token
    }
    if (first === null) continue
    await db
      .updateTable('model')
      .set({ cache_bytes_per_token: first })
      .where('id', '=', modelId)
      .execute()
  }
}

async function* listModelIds(db: Kysely<Database>): AsyncGenerator<string> {
  for (let last = ''; ; ) {
    const models = await db
      .selectFrom('model')
      .select('id')
      .where('id', '>', last)
      .orderBy('id')
      .limit(batchSize)
      .execute()
    for (const { id } of models) yield id
    const end = models.at(-1)
    if (!end) return
    last = end.id
  }
}

/** The ready files of a model, in the order in which they became ready. */
const listReadyFiles = (db: Kysely<Database>, modelId: string) =>
  db
    .selectFrom('file')
    .select(['id', 'filename', 'quantization', 'file_size_bytes', 'role'])
    .where('model_id', '=', modelId)
    .where('status', '=', 'ready')
    .orderBy('ready_at')
    .orderBy('id')
    .execute()

/** Reads the header of one file. To limit memory use, do not call it concurrently: a header may be megabytes long. */
async function readFacts(
  db: Kysely<Database>,
  { id, filename }: { id: string; filename: string },
): Promise<MetadataFacts> {
  const { metadata } = await db
    .selectFrom('file')
    .select('metadata')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return readMetadataFacts(JSON.parse(metadata ?? '{}'), filename)
}
