import { computeMinimumMemory, findFileMemory, readMetadataFacts } from '@shoal/model-file'
import type { Kysely } from 'kysely'
import type { Database } from './schema.ts'

const batchSize = 1_000

/**
 * Fills the `memory_bytes` of ready files, estimated from their stored headers, and the `min_memory_bytes` of models,
 * for databases that are older than these columns. A migration that changes the formula can call this function again.
 */
export async function fillMemory(db: Kysely<Database>): Promise<void> {
  for (let last = ''; ; ) {
    const models = await db
      .selectFrom('model')
      .select('id')
      .where('id', '>', last)
      .orderBy('id')
      .limit(batchSize)
      .execute()
    for (const { id } of models) await fillModel(db, id)
    const end = models.at(-1)
    if (!end) return
    last = end.id
  }
}

async function fillModel(db: Kysely<Database>, modelId: string) {
  const files = await db
    .selectFrom('file')
    .select(['id', 'filename', 'quantization', 'file_size_bytes', 'role'])
    .where('model_id', '=', modelId)
    .where('status', '=', 'ready')
    .execute()
  const estimated = []
  for (const file of files) estimated.push({ ...file, memory_bytes: await fillFile(db, file) })
  await db
    .updateTable('model')
    .set({ min_memory_bytes: computeMinimumMemory(estimated) })
    .where('id', '=', modelId)
    .execute()
}

type ReadyFile = { id: string; filename: string; file_size_bytes: number }

/** Reads one header at a time, because a header may be megabytes long. */
async function fillFile(
  db: Kysely<Database>,
  { id, filename, file_size_bytes }: ReadyFile,
): Promise<number | null> {
  const { metadata } = await db
    .selectFrom('file')
    .select('metadata')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  const facts = readMetadataFacts(JSON.parse(metadata ?? '{}'), filename)
  const memory_bytes = findFileMemory(facts, file_size_bytes)
  await db.updateTable('file').set({ memory_bytes }).where('id', '=', id).execute()
  return memory_bytes
}
