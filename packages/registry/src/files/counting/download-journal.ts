/**
 * Where downloads are counted while the database has no room for them: a small file, written once in its full length so that
 * nothing that it takes later needs a block of the disk. It is a row of places for records of one size.
 *
 * Each record is applied exactly once. Its writer, a process, numbers its records, and the database keeps the last number of
 * each writer that it has, changed in one transaction with the counts. So nothing in the file has to be struck out: what the database
 * has is skipped, in a crash between the two as well as in a copy of the file, beside a database of any age; and its place may be
 * written again. A record that a crash has torn has no right checksum, and its callers never got an answer.
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
   * Counts downloads; they are on the disk when it resolves. Throws when it has not counted them: `storage_full` when there is no
   * place left.
   */
  append(counts: DownloadCounts): Promise<void>
  /** Adds to the database what it does not have yet; returns how many downloads. Makes the file, if it is not there. */
  apply(): Promise<number>
  /** Downloads that the database may not have yet. */
  pendingCount(): number
  /** Closes the file, after what was asked for before. `append` refuses until `apply` opens it again. */
  close(): Promise<void>
}

type Options = Pick<Connection, 'db' | 'engine'> & {
  path: string
  /** Maximum number of records, each for the downloads of one model in one commit. */
  places?: number
}

type Place = { place: number; record: JournalRecord }

const defaultPlaces = 16_384 // 1 MiB

export async function openDownloadJournal({
  db,
  engine,
  path,
  places = defaultPlaces,
}: Options): Promise<DownloadJournal> {
  const writer = randomUUID()
  let sequence = 0
  let file: FileHandle | undefined
  /** What the database may not have yet, by its place. */
  const pending = new Map<number, JournalRecord>()
  let size = places
  let cursor = 0
  let last: Promise<unknown> = Promise.resolve()

  /** Opens the file, and makes it first when it is not there. */
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
      await strikeOut(file, written).catch(() => undefined) // the first error says what is wrong
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
    return applied
  }

  /** One after another: a record is applied only after all before it are on the disk, or never will be. */
  function inTurn<T>(act: () => Promise<T>): Promise<T> {
    const acting = last.then(act)
    last = acting.catch(() => undefined) // its own caller is told
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

/** Adds those that the database does not have; returns how many downloads. */
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
      .updateTable('download_journal') // which holds the row until the end
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

/** Written, not only made as long: a file with holes would need blocks when it is needed. */
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

/** Records whose callers are told that they did not count. Where this fails too, a crash may count them after all. */
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
