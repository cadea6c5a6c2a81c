import { computeMinimumMemory, getShardSet } from '@shoal/model-file'
import type { Kysely } from 'kysely'
import { databaseTime } from '../database/clock.ts'
import type { Database } from '../database/schema.ts'

/**
 * Updates the properties of a model that are derived from its files: quantizations, sizes, and facts that were not set
 * by hand. Call this in the transaction that changes a file.
 */
export async function refreshModel(trx: Kysely<Database>, modelId: string) {
  const model = await trx
    .selectFrom('model')
    .select(['set_by_hand', 'architecture', 'parameter_count', 'context_length'])
    .where('id', '=', modelId)
    .executeTakeFirst()
  if (!model) return
  const files = await trx
    .selectFrom('file')
    .select([
      'filename',
      'quantization',
      'file_size_bytes',
      'memory_bytes',
      'cache_bytes_per_token',
      'role',
    ])
    .select(['architecture', 'parameter_count', 'context_length'])
    .where('model_id', '=', modelId)
    .where('status', '=', 'ready')
    .orderBy('ready_at')
    .orderBy('id')
    .execute()

  const byHand = new Set<string>(JSON.parse(model.set_by_hand))
  const found = mergeFacts(files)
  const facts = {
    architecture: byHand.has('architecture') ? model.architecture : found.architecture,
    parameter_count: byHand.has('parameter_count') ? model.parameter_count : found.parameter_count,
    context_length: byHand.has('context_length') ? model.context_length : found.context_length,
  }
  const bySize = files.toSorted((a, b) => a.file_size_bytes - b.file_size_bytes)
  const labels = new Set(bySize.flatMap(({ quantization }) => quantization ?? []))
  await trx
    .updateTable('model')
    .set({
      ...facts,
      quantizations: JSON.stringify([...labels]),
      min_file_size_bytes: bySize[0]?.file_size_bytes ?? null,
      min_memory_bytes: computeMinimumMemory(files),
      cache_bytes_per_token:
        files.flatMap(({ cache_bytes_per_token }) => cache_bytes_per_token ?? [])[0] ?? null,
      files_count: files.length,
      total_size_bytes: files.reduce((sum, file) => sum + file.file_size_bytes, 0),
      updated_at: databaseTime(trx),
    })
    .where('id', '=', modelId)
    .execute()
}

type ReadyFile = {
  filename: string
  role: string | null
  architecture: string | null
  parameter_count: number | null
  context_length: number | null
}

/**
 * Returns the facts of the file that became ready first. If that file is a shard, the parameter count is the sum over
 * all shards of its set, and each other fact is taken from the first shard that has it. mmproj and adapter files are
 * ignored.
 */
function mergeFacts(files: ReadyFile[]) {
  const own = files.filter(({ role }) => role === 'model' || role === 'shard')
  const [first] = own
  if (!first) return { architecture: null, parameter_count: null, context_length: null }
  const set =
    first.role === 'shard'
      ? own.filter((file) => getShardSet(file) === getShardSet(first))
      : [first]
  const parameters = set.flatMap(({ parameter_count }) => parameter_count ?? [])
  return {
    architecture: set.find((file) => file.architecture !== null)?.architecture ?? null,
    context_length: set.find((file) => file.context_length !== null)?.context_length ?? null,
    parameter_count:
      parameters.length > 0 ? parameters.reduce((sum, count) => sum + count, 0) : null,
  }
}
