import type { Kysely, Selectable } from 'kysely'
import type { Database, ModelTable } from '../database/schema.ts'
import type { IndexedModel, ModelNumbers } from './indexed-model.ts'

const numberColumns = [
  'seq',
  'downloads',
  'likes',
  'parameter_count',
  'min_file_size_bytes',
  'min_memory_bytes',
  'cache_bytes_per_token',
  'context_length',
  'files_count',
  'total_size_bytes',
] as const
const columns = [
  ...numberColumns,
  'id',
  'name',
  'display_name',
  'description',
  'owner',
  'architecture',
  'license',
  'tags',
  'quantizations',
  'is_public',
  'created_at',
] as const

/**
 * Number of models that are read at a time. The objects of a larger batch would be moved out of V8's young generation,
 * so that loading 100,000 models would enlarge the heap by 100 MB.
 */
const batchSize = 200
/** Maximum number of values in a statement. PostgreSQL and SQLite allow at least 32,000. */
const maxSeqs = 1_000

/** Reads all models, in the order of `seq`. */
export async function* readModels(db: Kysely<Database>): AsyncGenerator<IndexedModel[]> {
  for (let last = 0; ; ) {
    const rows = await db
      .selectFrom('model')
      .select(columns)
      .where('seq', '>', last)
      .orderBy('seq')
      .limit(batchSize)
      .execute()
    yield await withMembers(db, rows.map(toModel))
    const end = rows.at(-1)
    if (!end || rows.length < batchSize) return
    last = end.seq
  }
}

/** Reads the models with these values of `seq`. Skips models that do not exist. */
export async function* readModelsBySeq(
  db: Kysely<Database>,
  seqs: readonly number[],
): AsyncGenerator<IndexedModel[]> {
  for (let at = 0; at < seqs.length; at += maxSeqs) {
    const some = seqs.slice(at, at + maxSeqs)
    const rows = await db.selectFrom('model').select(columns).where('seq', 'in', some).execute()
    yield await withMembers(db, rows.map(toModel))
  }
}

/** Reads the counts and sizes of the models with these values of `seq`. Skips models that do not exist. */
export async function* readNumbersBySeq(
  db: Kysely<Database>,
  seqs: readonly number[],
): AsyncGenerator<(ModelNumbers & { seq: number })[]> {
  for (let at = 0; at < seqs.length; at += maxSeqs) {
    const some = seqs.slice(at, at + maxSeqs)
    const rows = await db
      .selectFrom('model')
      .select(numberColumns)
      .where('seq', 'in', some)
      .execute()
    yield rows.map((row) => ({ seq: row.seq, ...toNumbers(row) }))
  }
}

/** Adds the members of private models. */
async function withMembers(db: Kysely<Database>, models: IndexedModel[]): Promise<IndexedModel[]> {
  const privateIds = models.filter(({ isPublic }) => !isPublic).map(({ id }) => id)
  if (privateIds.length === 0) return models
  const rows = await db
    .selectFrom('model_member')
    .select(['model_id', 'account_id'])
    .where('model_id', 'in', privateIds)
    .execute()
  if (rows.length === 0) return models
  const members = Map.groupBy(rows, (row) => row.model_id)
  return models.map((model) => {
    const own = members.get(model.id)
    return own ? { ...model, members: own.map((row) => row.account_id) } : model
  })
}

type Row = Selectable<ModelTable>

function toModel(row: Pick<Row, (typeof columns)[number]>): IndexedModel {
  return {
    ...toNumbers(row),
    seq: row.seq,
    id: row.id,
    name: row.name,
    displayName: row.display_name,
    description: row.description,
    owner: row.owner,
    architecture: row.architecture,
    license: row.license,
    tags: JSON.parse(row.tags),
    quantizations: JSON.parse(row.quantizations),
    isPublic: row.is_public === 1,
    createdAt: row.created_at,
  }
}

function toNumbers(row: Pick<Row, (typeof numberColumns)[number]>): ModelNumbers {
  return {
    downloads: row.downloads,
    likes: row.likes,
    parameterCount: row.parameter_count,
    minFileSizeBytes: row.min_file_size_bytes,
    minMemoryBytes: row.min_memory_bytes,
    cacheBytesPerToken: row.cache_bytes_per_token,
    contextLength: row.context_length,
    filesCount: row.files_count,
    totalSizeBytes: row.total_size_bytes,
  }
}
