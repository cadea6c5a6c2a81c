import { join } from 'node:path'
import { throttle } from '@shoal/core/async'
import type { Log } from '@shoal/log'
import type { Registry } from 'prom-client'
import type { RegistryConfig } from '../config.ts'
import type { Connection } from '../database/connect.ts'
import type { ObjectStore } from '../store/object-store.ts'
import type { Swarms } from '../swarm/swarm.ts'
import { type DownloadCounter, downloadCounter } from './counting/download-counter.ts'
import {
  type DownloadJournal,
  downloadJournal,
  journalMetrics,
} from './counting/download-journal.ts'
import { downloadOrder } from './counting/download-order.ts'
import { type Capabilities, capabilities } from './downloads/capability.ts'
import { keepManifests, type Manifests } from './downloads/manifests.ts'
import { collectRegularly } from './garbage/collect-regularly.ts'
import { type GarbageCollection, garbageCollection } from './garbage/garbage-collection.ts'
import { type FileProcessor, fileProcessor } from './processing/file-processor.ts'
import { processingQueue } from './processing/processing-queue.ts'
import { type BlobRepository, blobRepository } from './rows/blob-repository.ts'
import { type FileRepository, fileRepository } from './rows/file-repository.ts'
import { openTrash, type Trash } from './rows/trash.ts'

type Dependencies = {
  connection: Connection
  store: ObjectStore
  /** The key that signs tokens. Each token gives access to one file. */
  signingKey: string
  swarms: Swarms
  config: Pick<RegistryConfig, 'dataDirectory' | 'trashDays' | 'processingPollMs'>
  metrics: Registry
  log: Pick<Log, 'info' | 'warn' | 'error'>
}

/** The services for model files, from upload to garbage collection. */
export interface Files {
  files: FileRepository
  blobs: BlobRepository
  capabilities: Capabilities
  manifests: Manifests
  downloads: DownloadCounter
  /** Counts downloads while the database's disk is full. */
  journal: DownloadJournal
  collect: GarbageCollection
  trash: Trash
  processor: FileProcessor
  /** Runs garbage collection and `deleteExpired` once an hour. Returns a function that stops the hourly runs. */
  collectRegularly(deleteExpired: () => Promise<unknown>): () => void
  [Symbol.asyncDispose](): Promise<void>
}

/** Cleans up after a crash, and starts processing the files in the queue. */
export async function openFiles(dependencies: Dependencies): Promise<Files> {
  const { connection, store, signingKey, swarms, config, metrics, log } = dependencies
  const { db, unboundedDb, engine } = connection
  await using opened = new AsyncDisposableStack()
  const files = fileRepository(db, swarms)
  const blobs = blobRepository(db)
  const trash = openTrash({ db, store, retentionDays: config.trashDays, log })
  const collect = garbageCollection(db, store, trash)
  const queue = processingQueue(db, engine)
  await queue.freeAll()
  await collect.removeEndedUploads().catch((error) => {
    log.error({ err: error }, 'could not remove uploads left by a crash')
  })
  const processor = fileProcessor({
    queue,
    files,
    blobs,
    store,
    collect,
    log,
    pollIntervalMs: config.processingPollMs,
  })
  opened.defer(processor.close)
  connection.onFileChange(processor.wake)
  const path = join(config.dataDirectory, 'downloads.journal')
  const onOrderError = throttle(60_000, (error: unknown) =>
    log.warn({ err: error }, 'could not update the download counts by which models are sorted'),
  )
  const order = downloadOrder(connection, onOrderError)
  opened.defer(order.close)
  order.followAll()
  const journal = downloadJournal({
    ...{ db, engine, path, onApplied: order.follow },
    makeRoom: connection.ballast?.makeRoom,
  })
  journalMetrics(metrics, journal)
  const kept = opened.move()
  return {
    files,
    blobs,
    capabilities: capabilities(db, signingKey),
    manifests: keepManifests(blobs),
    downloads: downloadCounter({ connection, journal, order }),
    journal,
    collect,
    trash,
    processor,
    collectRegularly: (deleteExpired) =>
      collectRegularly({
        db: unboundedDb,
        // Reading an entire table may take longer than the time limit that `db` sets for statements.
        collect: garbageCollection(unboundedDb, store, trash),
        trash,
        deleteExpired,
        metrics,
        log,
      }),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}
