import {
  isBlank,
  type Model,
  type ModelChanges,
  type ModelRecord,
  type NewModel,
} from '@shoal/protocol'
import { type Kysely, type Selectable, sql } from 'kysely'
import { v7 as newId } from 'uuid'
import type { Viewer } from '../accounts/caller.ts'
import type { Actor } from '../audit/actor.ts'
import { model, type Note, note } from '../audit/audit-log.ts'
import { databaseTime } from '../database/clock.ts'
import type { Database, FileBytes, ModelTable } from '../database/schema.ts'
import { isUniqueViolation } from '../database/unique-violation.ts'
import { conflict, notFound, unknownModel } from '../errors.ts'
import { readCardDetails } from './card-details.ts'
import { countedDownloads } from './counted-downloads.ts'
import { fillFromCard } from './fill-from-card.ts'
import { findRenamedModel, keepFormerName, takeName } from './former-names.ts'
import { likesAmong } from './like-repository.ts'
import { lockModel } from './lock-model.ts'
import {
  distinct,
  factFields,
  fillAgain,
  formatOrigins,
  nothing,
  setByHand,
  writeCard,
} from './origins.ts'
import { refreshModel } from './refresh-model.ts'
import { visibleTo } from './visibility.ts'

/** Reads and writes models. For a model that the viewer may not see, the error is always not-found, never forbidden. */
export interface ModelRepository {
  /**
   * Returns a model by its ID, its name or a former name, ignoring case. If another model has taken a former name,
   * returns that model.
   * @throws not-found if there is no such model that the viewer may see
   */
  getRow(idOrName: string, viewer: Viewer): Promise<ModelRow>
  /**
   * Like `getRow`, for changes. Does not accept a former name, because the caller may mean another model.
   * @throws not-found with the code `model_renamed` if the name is a former name
   */
  getRowToChange(idOrName: string, viewer: Viewer): Promise<ModelRow>
  /**
   * Returns the model with its card, and whether the viewer likes the model.
   * @throws not-found if there is no such model that the viewer may see
   */
  get(idOrName: string, viewer: Viewer): Promise<ModelDetails>
  /** Like `get`, but for a row that has already been read. */
  getDetails(row: ModelRow, viewer: Viewer): Promise<ModelDetails>
  hasAny(): Promise<boolean>
  /** @throws conflict if the name is taken */
  create(owner: string, model: NewModel): Promise<ModelRow>
  /**
   * Writes only the fields of `ModelChanges`; other members of the object are ignored. A fact that is set to null is
   * filled in from the files again. An empty license or list of tags is filled in from the card.
   * @throws not-found if the model no longer exists, and conflict if the name is taken
   */
  update(id: string, changes: ModelChanges, actor: Actor): Promise<ModelRow>
  /**
   * Fills in an empty license or list of tags from the stored card. Does not change the model's `updated_at`.
   * @throws not-found if the model no longer exists
   */
  readCardAgain(id: string): Promise<void>
  /**
   * Deletes the rows of the model and its files, and returns where the files' bytes are stored.
   * @throws not-found if the model no longer exists
   */
  delete(id: string, note: Note): Promise<FileBytes[]>
  /**
   * Deletes the model unless it has files or uploads. Expired uploads are ignored.
   * @throws not-found if the model no longer exists, and conflict if it is not empty
   */
  deleteEmpty(id: string, note: Note): Promise<void>
}

/** A model as the API returns it, except for `can_write`, which depends on the caller's credential. */
export type ModelDetails = Omit<ModelRecord, 'can_write'>

export type ModelRow = Selectable<ModelTable> & {
  /**
   * 1 if the viewer is a member who can write, 0 if the viewer is a member who can only read; otherwise, null or
   * undefined.
   */
  member_can_write?: 0 | 1 | null
}

const memberRight = (accountId: string) =>
  sql<0 | 1 | null>`(
    select can_write from model_member where model_id = model.id and account_id = ${accountId})`.as(
    'member_can_write',
  )

export function modelRepository(db: Kysely<Database>): ModelRepository {
  function findRow(
    column: 'model.id' | 'model.name',
    key: string,
    viewer: Viewer,
  ): Promise<ModelRow | undefined> {
    return db
      .selectFrom('model')
      .selectAll()
      .select(countedDownloads)
      .$if(viewer.username !== undefined, (models) =>
        models.select(memberRight(viewer.accountId ?? '')),
      )
      .where(column, '=', key)
      .where(visibleTo(viewer))
      .executeTakeFirst()
  }

  /** Finds a model by its ID, its name or a former name. */
  async function find(idOrName: string, viewer: Viewer) {
    const key = idOrName.toLowerCase()
    const isId = isUuid(key)
    const row = await findRow(isId ? 'model.id' : 'model.name', key, viewer)
    if (row || isId) return row && { row, isRenamed: false }
    const id = await findRenamedModel(db, key)
    const renamed = id === undefined ? undefined : await findRow('model.id', id, viewer)
    return renamed && { row: renamed, isRenamed: true }
  }

  async function getRow(idOrName: string, viewer: Viewer): Promise<ModelRow> {
    const found = await find(idOrName, viewer)
    if (!found) throw unknownModel(idOrName)
    return found.row
  }

  async function getRowToChange(idOrName: string, viewer: Viewer): Promise<ModelRow> {
    const found = await find(idOrName, viewer)
    if (!found) throw unknownModel(idOrName)
    const { row, isRenamed } = found
    if (isRenamed) {
      throw notFound(`the model ${idOrName.toLowerCase()} was renamed to ${row.name}`, {
        code: 'model_renamed',
      })
    }
    return row
  }

  async function getDetails(row: ModelRow, viewer: Viewer): Promise<ModelDetails> {
    const [liked] = await likesAmong(db, [row.id], viewer)
    const card = await db
      .selectFrom('model_card')
      .select('readme')
      .where('model_id', '=', row.id)
      .executeTakeFirst()
    const { files_count, total_size_bytes } = row
    const model = toModel(row, liked ?? null)
    return { ...model, readme: card?.readme ?? null, files_count, total_size_bytes }
  }

  return {
    getRow,
    getRowToChange,

    get: async (idOrName: string, viewer: Viewer): Promise<ModelDetails> =>
      getDetails(await getRow(idOrName, viewer), viewer),

    hasAny: async (): Promise<boolean> =>
      (await db.selectFrom('model').select('id').limit(1).executeTakeFirst()) !== undefined,

    create: (owner: string, model: NewModel): Promise<ModelRow> =>
      db.transaction().execute(async (trx) => {
        const own = { license: model.license ?? null, tags: distinct(model.tags ?? []) }
        const filled = fillFromCard(nothing, own, readCardDetails(model.readme ?? null))
        const byHand = factFields.filter((field) => model[field] != null)
        const row = await trx
          .insertInto('model')
          .values({
            id: newId(),
            name: model.name,
            owner,
            display_name: model.display_name ?? model.name,
            description: unlessBlank(model.description) ?? null,
            license: filled.license,
            architecture: model.architecture ?? null,
            parameter_count: model.parameter_count ?? null,
            context_length: model.context_length ?? null,
            set_by_hand: formatOrigins(byHand, filled),
            tags: JSON.stringify(filled.tags),
            is_public: model.is_public === false ? 0 : 1,
            visibility_version: 1,
            downloads: 0,
            likes: 0,
            quantizations: '[]',
            min_file_size_bytes: null,
            min_memory_bytes: null,
            cache_bytes_per_token: null,
            files_count: 0,
            total_size_bytes: 0,
            created_at: databaseTime(trx),
            updated_at: databaseTime(trx),
          })
          .onConflict((taken) => taken.column('name').doNothing())
          .returningAll()
          .executeTakeFirst()
        if (!row) throw nameTaken(model.name)
        await takeName(trx, model.name)
        await writeCard(trx, row.id, model.readme ?? null)
        return row
      }),

    update: (id: string, changes: ModelChanges, actor: Actor): Promise<ModelRow> =>
      db.transaction().execute(async (trx) => {
        const row = await lockModel(trx, id)
        const { name, readme, is_public } = changes
        // The title defaults to the name. A form sends all fields back, so an unchanged title also follows the name.
        const { display_name: title = row.name } = changes
        const isUntitled = row.display_name === row.name && title === row.name
        const display_name = isUntitled ? name : changes.display_name
        const description = unlessBlank(changes.description)
        const { architecture, parameter_count, context_length } = changes
        const filled = await fillAgain(trx, row, changes)
        await trx
          .updateTable('model')
          .set({ name, display_name, description, license: filled.license })
          .set({ architecture, parameter_count, context_length })
          .set({
            tags: JSON.stringify(filled.tags),
            set_by_hand: formatOrigins(setByHand(row, changes), filled),
            updated_at: databaseTime(trx),
          })
          .$if(is_public !== undefined, (query) => {
            const flag = is_public ? 1 : 0
            return query.set({
              is_public: flag,
              visibility_version: sql`case when is_public = ${flag} then visibility_version else visibility_version + 1 end`,
            })
          })
          .where('id', '=', id)
          .execute()
          .catch((error) => {
            throw isUniqueViolation(error) ? nameTaken(name) : error
          })
        if (name !== undefined && name !== row.name) await keepFormerName(trx, row, name, actor)
        if (readme !== undefined) await writeCard(trx, id, readme)
        if (is_public !== undefined && is_public !== (row.is_public === 1)) {
          await note(actor, 'model.visibility_changed', model(row.name), { is_public })(trx)
        }
        if (factFields.some((field) => changes[field] === null)) {
          await refreshModel(trx, id)
        }
        return trx
          .selectFrom('model')
          .selectAll()
          .select(countedDownloads)
          .where('id', '=', id)
          .executeTakeFirstOrThrow()
      }),

    getDetails,

    readCardAgain: (id: string): Promise<void> =>
      db.transaction().execute(async (trx) => {
        const row = await lockModel(trx, id)
        const filled = await fillAgain(trx, row, {})
        await trx
          .updateTable('model')
          .set({
            license: filled.license,
            tags: JSON.stringify(filled.tags),
            set_by_hand: formatOrigins(setByHand(row, {}), filled),
          })
          .where('id', '=', id)
          .execute()
      }),

    delete: (id: string, noteDeletion: Note): Promise<FileBytes[]> =>
      db.transaction().execute(async (trx) => {
        await lockModel(trx, id)
        await noteDeletion(trx)
        const files = await trx
          .deleteFrom('file')
          .where('model_id', '=', id)
          .returning(['object_key', 'blob_hash'])
          .execute()
        await trx.deleteFrom('model').where('id', '=', id).execute()
        return files
      }),

    deleteEmpty: (id: string, noteDeletion: Note): Promise<void> =>
      db.transaction().execute(async (trx) => {
        const { name } = await lockModel(trx, id) // no upload can start until the transaction ends
        const file = await trx
          .selectFrom('file')
          .select('id')
          .where('model_id', '=', id)
          .where('status', '<>', 'expired')
          .limit(1)
          .executeTakeFirst()
        if (file)
          throw conflict(`the model ${name} has files or unfinished uploads`, {
            code: 'model_not_empty',
          })
        await noteDeletion(trx)
        await trx.deleteFrom('model').where('id', '=', id).execute()
      }),
  }
}

export type ListedRow = Omit<
  ModelRow,
  'seq' | 'set_by_hand' | 'files_count' | 'total_size_bytes' | 'visibility_version'
>

/** The columns from which a `Model` is made, in addition to `countedDownloads`. */
export const listedColumns = [
  'id',
  'name',
  'owner',
  'display_name',
  'description',
  'license',
  'architecture',
  'parameter_count',
  'context_length',
  'tags',
  'is_public',
  'likes',
  'quantizations',
  'min_file_size_bytes',
  'min_memory_bytes',
  'cache_bytes_per_token',
  'created_at',
  'updated_at',
] as const satisfies (keyof ListedRow)[]

export function toModel(row: ListedRow, liked: boolean | null): Model {
  const { id, name, owner, display_name, description, license, architecture } = row
  const { parameter_count, context_length, downloads, likes, created_at, updated_at } = row
  return {
    id,
    name,
    display_name: isBlank(display_name) ? name : display_name, // version 0.1 allowed blank display names
    description,
    license,
    architecture,
    parameter_count,
    context_length,
    tags: JSON.parse(row.tags),
    downloads,
    likes,
    is_public: row.is_public === 1,
    owner,
    created_at,
    updated_at,
    liked,
    quantizations: JSON.parse(row.quantizations),
    min_file_size_bytes: row.min_file_size_bytes,
    min_memory_bytes: row.min_memory_bytes,
    cache_bytes_per_token: row.cache_bytes_per_token,
  }
}

export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(text)
}

function nameTaken(name: string | undefined) {
  return conflict(`the name ${name} is taken`, { code: 'name_taken' })
}

function unlessBlank<T extends string | null | undefined>(text: T): T | null {
  return typeof text === 'string' && isBlank(text) ? null : text
}
