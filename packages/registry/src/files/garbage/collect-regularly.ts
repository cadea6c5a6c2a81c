import type { Log } from '@shoal/log'
import type { Kysely } from 'kysely'
import { Gauge, type Registry } from 'prom-client'
import { withLease } from '../../database/lease.ts'
import type { Database } from '../../database/schema.ts'
import type { Trash } from '../rows/trash.ts'
import type { GarbageCollection } from './garbage-collection.ts'

type Dependencies = {
  db: Kysely<Database>
  collect: GarbageCollection
  trash: Trash
  /** Deletes expired rows, such as sessions. */
  deleteExpired: () => Promise<unknown>
  metrics: Registry
  log: Pick<Log, 'info' | 'error'>
  intervalMs?: number
}

const hourMs = 3_600_000
/**
 * Minimum time between two collections on the same or different nodes, as a share of the interval. It is less than 1 so
 * that a collection that starts slightly early is not skipped.
 */
const restShare = 0.9

/**
 * Collects garbage once an hour on one of the nodes, logs the result and updates the metrics. Returns a function that
 * stops the hourly collections.
 */
export function collectRegularly(dependencies: Dependencies): () => void {
  const { db, collect, trash, deleteExpired, metrics, log, intervalMs = hourMs } = dependencies
  const heldBackBytes = new Gauge({
    name: 'shoal_garbage_held_back_bytes',
    help: 'Bytes of unknown objects that were not collected because the objects make up more than a tenth of all stored bytes',
    registers: [metrics],
  })
  const trashBytes = new Gauge({
    name: 'shoal_trash_bytes',
    help: 'Bytes of deleted files in the trash, as of the previous scrape',
    registers: [metrics],
    collect: refreshTrashBytes, // not awaited: metrics must work even if the database does not respond
  })
  refreshTrashBytes()

  function refreshTrashBytes() {
    trash.size().then(
      ({ bytes }) => trashBytes.set(bytes),
      (error) => log.error({ err: error }, 'could not read the size of the trash'),
    )
  }

  async function run() {
    const [collected] = await Promise.all([collect.collect(), deleteExpired()])
    const { heldBack } = collected
    heldBackBytes.set(heldBack.bytes)
    log.info(collected, 'collected garbage')
    if (heldBack.bytes === 0) return
    log.error(
      heldBack,
      'unknown objects were not collected because they make up more than a tenth of all stored bytes. Check that this is the right database; to collect the objects anyway, run shoal admin gc --yes',
    )
  }

  let isRunning = false
  const timer = setInterval(() => {
    if (isRunning) return // the previous collection is still running
    isRunning = true
    withLease(db, 'garbage collection', (restShare * intervalMs) / 1_000, run)
      .catch((error) => log.error({ err: error }, 'could not collect garbage'))
      .finally(() => {
        isRunning = false
      })
  }, intervalMs)
  timer.unref()
  return () => clearInterval(timer)
}
