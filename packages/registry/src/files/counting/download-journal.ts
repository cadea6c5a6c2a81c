/**
 * A journal in which downloads are counted while the database's disk is full: a file to which records are appended.
 * With SQLite, the ballast makes room for them, because the file is on the same disk.
 *
 * Each record is applied exactly once. Every process numbers its records. For each process, the database stores the
 * number of the last record that was applied, and updates this number in the same transaction as the counts. Records up
 * to this number are skipped, even after a crash, and even if the file or the database has been replaced by an older
 * copy. If a crash leaves a record incomplete, its checksum is wrong, and the record is ignored. The calls that were
 * writing it had not resolved.
 */

import { randomUUID } from 'node:crypto'
import { open, readFile, truncate } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ignoreMissing, syncFolder } from '@shoal/files'
import { type Kysely, sql } from 'kysely'
import { Gauge, type Registry } from 'prom-client'
import type { Connection } from '../../database/connect.ts'
import type { Database } from '../../database/schema.ts'
import { addDownloads, type DownloadCounts } from './add-downloads.ts'
import { decodeRecord, encodeRecord, type JournalRecord, recordSize } from './journal-record.ts'

export interface DownloadJournal {
  /** Counts downloads, and resolves after the counts have been written to disk. Rejects if they were not counted. */
  append(counts: DownloadCounts): Promise<void>
  /** Adds to the database all downloads that are only in the journal, and returns their number. */
  apply(): Promise<number>
  /** The number of downloads in the journal that the database may not include yet. */
  pendingCount(): number
}

type Options = Pick<Connection, 'db' | 'engine'> & {
  path: string
  /** Makes room for this many bytes on the file's disk. */
  makeRoom?: ((bytes: number) => void) | undefined
  /** Called with the model IDs of the applied records. */
  onApplied?: (modelIds: Iterable<string>) => void
}

/** Space for the file's last, partly filled block and its directory entry. */
const besidesBytes = 16 * 1024

export function downloadJournal({
  db,
  engine,
  path,
  makeRoom,
  onApplied,
}: Options): DownloadJournal {
  const writer = randomUUID()
  let sequence = 0
  /** The records in the file, some of which may have been applied; undefined until the file has been read. */
  let records: JournalRecord[] | undefined
  let last: Promise<unknown> = Promise.resolve()

  async function append(counts: DownloadCounts) {
    records ??= await readRecords(path)
    const added = [...counts].map(([modelId, count]) => {
      sequence += 1
      return { writer, sequence, modelId, count }
    })
    const bytes = Buffer.concat(added.map(encodeRecord))
    makeRoom?.(bytes.length + besidesBytes)
    const file = await open(path, 'a')
    try {
      const { size } = await file.stat()
      const end = size - (size % recordSize) // a crash may have left an incomplete record
      if (end < size) await file.truncate(end)
      try {
        await file.appendFile(bytes)
        await file.datasync()
        if (end === 0) await syncFolder(dirname(path))
      } catch (error) {
        // The callers receive an error, so the downloads should not be counted later.
        await file.truncate(end).catch(() => undefined) // throw the first error, since it is the cause
        throw error
      }
    } finally {
      await file.close()
    }
    records.push(...added)
  }

  async function apply() {
    records ??= await readRecords(path)
    if (records.length === 0) return 0
    const taken = records
    const applied = await db.transaction().execute((trx) => applyRecords(trx, engine, taken))
    await truncate(path)
    records = []
    onApplied?.(taken.map(({ modelId }) => modelId))
    return applied
  }

  /** Runs calls one at a time, so that `apply` does not delete records that are still being written. */
  function inTurn<T>(act: () => Promise<T>): Promise<T> {
    const acting = last.then(act)
    last = acting.catch(() => undefined) // the caller receives the error
    return acting
  }

  return {
    append: (counts) => inTurn(() => append(counts)),
    apply: () => inTurn(apply),
    pendingCount: () => (records ?? []).reduce((sum, { count }) => sum + count, 0),
  }
}

export function journalMetrics(registry: Registry, journal: Pick<DownloadJournal, 'pendingCount'>) {
  new Gauge({
    name: 'shoal_download_journal_pending',
    help: 'Downloads counted in the journal but not yet in the database',
    registers: [registry],
    collect() {
      this.set(journal.pendingCount())
    },
  })
}

/** Reads all complete records. Version 0.1 wrote records to a file of fixed size, which may consist only of zeros. */
async function readRecords(path: string): Promise<JournalRecord[]> {
  const bytes = await readFile(path).catch(ignoreMissing)
  if (!bytes) return []
  const places = Array.from({ length: Math.floor(bytes.length / recordSize) }, (_, at) => at)
  const records = places.flatMap(
    (place) => decodeRecord(bytes.subarray(place * recordSize, (place + 1) * recordSize)) ?? [],
  )
  if (records.length === 0) await truncate(path)
  return records
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
