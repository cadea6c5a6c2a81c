import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import type { Connection } from '../../database/connect.ts'
import type { Database } from '../../database/schema.ts'

/**
 * Copies the counters to `model.downloads`, the column by which lists are sorted. The column has an index, so updating
 * it with every download would take longer than counting the download.
 */
export interface DownloadOrder {
  /** Copies these models' counters within a second. */
  follow(modelIds: Iterable<string>): void
  /** In the background, copies all counters that differ from the column, as they may after a crash. */
  followAll(): void
  /** Stops copying. The remaining counters are copied at the next start. */
  close(): void
}

/** Number of models per step. The number is smaller for SQLite, because each step blocks the event loop there. */
const stepSizes = { sqlite: 50, postgres: 500 }
const pageSize = 1_000
const delayMs = 500

export function downloadOrder(
  { db, engine, writeUnsynced }: Pick<Connection, 'db' | 'engine' | 'writeUnsynced'>,
  onError: (error: unknown) => void,
): DownloadOrder {
  const stepSize = stepSizes[engine]
  let changed = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  let last: Promise<void> = Promise.resolve()
  let isClosed = false

  function follow(modelIds: Iterable<string>) {
    for (const id of modelIds) changed.add(id)
    if (changed.size === 0 || timer || isClosed) return
    timer = setTimeout(() => run(copyChanged), delayMs)
    timer.unref()
  }

  function run(act: () => Promise<void>) {
    last = last.then(act).catch((error) => {
      if (!isClosed) onError(error)
    })
  }

  async function copyChanged() {
    timer = undefined
    const ids = [...changed]
    changed = new Set()
    for (let at = 0; at < ids.length && !isClosed; at += stepSize) {
      try {
        await writeUnsynced((one) => copyCounters(one, engine, ids.slice(at, at + stepSize)))
      } catch (error) {
        follow(ids.slice(at)) // try again after the delay
        throw error
      }
      await turnOfTheLoop()
    }
  }

  async function findDifferent() {
    for (let after = ''; !isClosed; ) {
      const { rows } = await sql<{ id: string; differs: number | boolean }>`
        select model.id, model.downloads <> model_downloads.downloads as differs
        from model_downloads join model on model.id = model_id
        where model_id > ${after} order by model_id limit ${pageSize}`.execute(db)
      follow(rows.filter(({ differs }) => Boolean(differs)).map(({ id }) => id))
      const end = rows.at(-1)
      if (!end || rows.length < pageSize) return
      after = end.id
      await turnOfTheLoop()
    }
  }

  return {
    follow,
    followAll: () => run(findDifferent),
    close() {
      isClosed = true
      clearTimeout(timer)
    },
  }
}

async function copyCounters(db: Kysely<Database>, engine: Connection['engine'], ids: string[]) {
  if (engine === 'sqlite') {
    await sql`
      update model set downloads = model_downloads.downloads
      from json_each(${JSON.stringify(ids)}) as changed
      join model_downloads on model_downloads.model_id = changed.value
      where model.id = changed.value and model.downloads <> model_downloads.downloads`.execute(db)
    return
  }
  // Lock the rows in order of ID, so that two nodes cannot deadlock. A node that waited for the lock may have read an
  // outdated counter, so use the larger value: counters never decrease.
  await sql`
    with locked as (
      select id from model where id = any(${ids}::text[]) order by id for no key update
    )
    update model set downloads = greatest(model.downloads, model_downloads.downloads)
    from locked join model_downloads on model_downloads.model_id = locked.id
    where model.id = locked.id and model.downloads <> model_downloads.downloads`.execute(db)
}
