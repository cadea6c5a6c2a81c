/**
 * A journal in which downloads are counted while the database's disk is full: a small file of fixed-size records. All
 * disk blocks of the file are written when it is created, so that adding a record needs no new block.
 *
 * Each record is applied exactly once. Every process numbers its records. For each process, the database stores the
 * number of the last record that was applied, and updates this number in the same transaction as the counts. Records up
 * to this number are skipped, even after a crash, and even if the file or the database has been replaced by an older
 * copy. Applied records are therefore not erased; their places are reused. If a crash leaves a record incomplete, its
 * checksum is wrong, and the record is ignored. The calls that were writing it had not resolved.
 */

import { randomUUID } from 'node:crypto'
import { type FileHandle, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncFolder } from '@shoal/files'
import { type Kysely, sql } from 'kysely'
import type { Connection } from '../../database/connect.ts'
import type { Database } from '../../database/schema.ts'
import { storageFull } from '../../errors.ts'
import { addDownloads, type DownloadCounts } from './add-downloads.ts'
import { decodeRecord, encodeRecord, type JournalRecord, recordSize } from './journal-record.ts'

export interface DownloadJournal {
  /**
   * Counts downloads, and resolves after the counts have been written to disk. Rejects if the downloads were not
   * counted. If the journal is full, the error code is `storage_full`.
   */
  append(counts: DownloadCounts): Promise<void>
  /**
   * Adds to the database all downloads that are only in the journal, and returns their number. Creates the file if it
   * is missing.
   */
  apply(): Promise<number>
  /** The number of downloads in the journal that the database may not include yet. */
  pendingCount(): number
  /** Closes the file after all earlier calls have finished. `append` then throws until `apply` reopens the file. */
  close(): Promise<void>
}

type Options = Pick<Connection, 'db' | 'engine'> & {
  path: string
  /** Called with the model IDs of the applied records. */
  onApplied?: (modelIds: Iterable<string>) => void
  /** Maximum number of records. A record contains the number of downloads of one model in one commit of the journal. */
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
  /** The records that may not have been applied to the database yet, by their place in the file. */
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
      await strikeOut(file, written).catch(() => undefined) // throw the first error, since it is the cause
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

  /**
   * Runs calls one at a time, so that a record is applied only after all earlier records have been written to disk or
   * have failed.
   */
  function inTurn<T>(act: () => Promise<T>): Promise<T> {
    const acting = last.then(act)
    last = acting.catch(() => undefined) // the caller receives the error
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

/** Adds the downloads of all records that have not been applied yet, and returns the number of these downloads. */
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
    await syncFolder(dirname(path))
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
}

/**
 * Erases what a failed write has left in the journal. The callers of `append` receive an error, so the downloads must
 * not be counted later. If erasing fails too, they may be counted after a crash.
 */
async function strikeOut(file: FileHandle, written: readonly Place[]) {
  for (const { place } of written) {
    await file.write(Buffer.alloc(recordSize), 0, recordSize, place * recordSize)
  }
}

function full() {
  return storageFull("the registry's disk is full: the download could not be counted", 0)
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
