/**
 * A journal of downloads for the time when the database's disk is full: a small file of fixed-size records. It is
 * written in full when it is created, so that records need no new disk blocks.
 *
 * Each record is applied exactly once. A process numbers its records, and the database keeps the number of the last
 * record that it has applied from each process, updated in the same transaction as the counts. So applied records are
 * not erased: those that the database has are skipped, even after a crash in between or if the file or the database is
 * an older copy, and their places are reused. A record that a crash has torn fails its checksum; its callers never got
 * a response.
 */

import { randomUUID } from 'node:crypto'
import { type FileHandle, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type Kysely, sql } from 'kysely'
import type { Connection } from '../../database/connect.ts'
import type { Database } from '../../database/schema.ts'
import { syncDirectory } from '../../durable-file.ts'
import { storageFull } from '../../errors.ts'
import { addDownloads, type DownloadCounts } from './add-downloads.ts'
import { decodeRecord, encodeRecord, type JournalRecord, recordSize } from './journal-record.ts'

export interface DownloadJournal {
  /**
   * Counts downloads; resolves once they are on disk. Throws if they were not counted, with `storage_full` if the
   * journal is full.
   */
  append(counts: DownloadCounts): Promise<void>
  /**
   * Adds the downloads that the database does not have yet, and returns their number. Creates the file if it is
   * missing.
   */
  apply(): Promise<number>
  /** The number of downloads that the database may not have yet. */
  pendingCount(): number
  /** Closes the file after all earlier calls have finished. `append` then throws until `apply` reopens the file. */
  close(): Promise<void>
}

type Options = Pick<Connection, 'db' | 'engine'> & {
  path: string
  /** Called with the models whose counters have grown. */
  onApplied?: (modelIds: Iterable<string>) => void
  /** Maximum number of records; a record holds the downloads of one model in one commit. */
  places?: number
}

type Place = { place: number; record: JournalRecord }

const defaultPlaces = 16_384 // 1 MiB

export async function openDownloadJournal({
  db,
  engine,
  path,
  onApplied,
  places = defaultPlaces,
}: Options): Promise<DownloadJournal> {
  const writer = randomUUID()
  let sequence = 0
  let file: FileHandle | undefined
  /** The records that the database may not have applied yet, by their place in the file. */
  const pending = new Map<number, JournalRecord>()
  let size = places
  let cursor = 0
  let last: Promise<unknown> = Promise.resolve()

  /** Opens the file, and creates it first if it is missing. */
  async function prepare() {
    if (file) return
    const bytes = await readFile(path).catch(ignoreMissing)
    if (bytes) {
      size = Math.floor(bytes.length / recordSize)
      for (let place = 0; place < size; place += 1) {
        const record = decodeRecord(bytes.subarray(place * recordSize, (place + 1) * recordSize))
        if (record) pending.set(place, record)
      }
    } else {
      await makeFile(path, places * recordSize)
      size = places
    }
    file = await open(path, 'r+')
  }

  async function append(counts: DownloadCounts) {
    if (!file || pending.size + counts.size > size) throw full()
    const written: Place[] = [...counts].map(([modelId, count]) => {
      sequence += 1
      return { place: nextPlace(), record: { writer, sequence, modelId, count } }
    })
    try {
      for (const { place, record } of written) {
        await file.write(encodeRecord(record), 0, recordSize, place * recordSize)
      }
      await file.datasync()
    } catch (error) {
      await strikeOut(file, written).catch(() => undefined) // the first error is the cause
      throw error
    }
    for (const { place, record } of written) pending.set(place, record)
  }

  function nextPlace(): number {
    do cursor = (cursor + 1) % size
    while (pending.has(cursor))
    return cursor
  }

  async function apply() {
    await prepare()
    const taken = [...pending]
    if (taken.length === 0) return 0
    const records = taken.map(([, record]) => record)
    const applied = await db.transaction().execute((trx) => applyRecords(trx, engine, records))
    for (const [place] of taken) pending.delete(place)
    onApplied?.(records.map(({ modelId }) => modelId))
    return applied
  }

  /** Runs calls one at a time: a record is applied only once all earlier records are on disk, or have failed. */
  function inTurn<T>(act: () => Promise<T>): Promise<T> {
    const acting = last.then(act)
    last = acting.catch(() => undefined) // its caller gets the error
    return acting
  }

  return {
    append: (counts) => inTurn(() => append(counts)),
    apply: () => inTurn(apply),
    pendingCount: () => [...pending.values()].reduce((sum, { count }) => sum + count, 0),
    close: () =>
      inTurn(async () => {
        const closing = file
        file = undefined
        await closing?.close()
      }),
  }
}

/** Adds the records that the database does not have; returns the number of downloads. */
async function applyRecords(
  trx: Kysely<Database>,
  engine: Connection['engine'],
  records: readonly JournalRecord[],
): Promise<number> {
  const counts = new Map<string, number>()
  let added = 0
  const byWriter = Map.groupBy(records, ({ writer }) => writer)
  for (const [writer, own] of [...byWriter].sort(([a], [b]) => (a < b ? -1 : 1))) {
    await trx
      .insertInto('download_journal')
      .values({ writer, applied: 0 })
      .onConflict((exists) => exists.doNothing())
      .execute()
    const { applied } = await trx
      .updateTable('download_journal') // locks the row until the transaction ends
      .set({ applied: sql`applied` })
      .where('writer', '=', writer)
      .returning('applied')
      .executeTakeFirstOrThrow()
    const fresh = own.filter(({ sequence }) => sequence > applied)
    for (const { modelId, count } of fresh) {
      counts.set(modelId, (counts.get(modelId) ?? 0) + count)
      added += count
    }
    await trx
      .updateTable('download_journal')
      .set({ applied: Math.max(applied, ...own.map(({ sequence }) => sequence)) })
      .where('writer', '=', writer)
      .execute()
  }
  if (added > 0) await addDownloads(trx, engine, counts)
  return added
}

/**
 * Writes every byte instead of only setting the length: a sparse file would need disk blocks later, when the disk is
 * full.
 */
async function makeFile(path: string, sizeBytes: number) {
  const unfinished = `${path}.unfinished`
  try {
    const made = await open(unfinished, 'w')
    try {
      await made.writeFile(Buffer.alloc(sizeBytes))
      await made.sync()
    } finally {
      await made.close()
    }
    await rename(unfinished, path)
    await syncDirectory(dirname(path))
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
}

/**
 * Erases records whose callers got the error that they were not counted. If this fails too, they may be counted after a
 * crash.
 */
async function strikeOut(file: FileHandle, written: readonly Place[]) {
  for (const { place } of written) {
    await file.write(Buffer.alloc(recordSize), 0, recordSize, place * recordSize)
  }
}

function full() {
  return storageFull('the disk of this registry is full: the download could not be counted', 0)
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
