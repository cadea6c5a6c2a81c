/** The registry: read the configuration, connect, build, listen, close. */
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { isLoopback } from '@shoal/core/addresses'
import { type OpenLog, openLog } from '@shoal/log'
import { drainOf } from '@shoal/server'
import { findSite } from '@shoal/web'
import { accountRepository, setupCodeName, systemUsername } from './accounts/account-repository.ts'
import { apiKeyRepository } from './accounts/api-key-repository.ts'
import { networkRepository } from './accounts/network-repository.ts'
import { sessionRepository } from './accounts/session-repository.ts'
import { buildApp } from './app.ts'
import { atMost } from './at-most.ts'
import { atMostEvery } from './at-most-every.ts'
import { cardRenderer } from './cards/card-renderer.ts'
import type { RegistryConfig } from './config.ts'
import { takeDataDirectory } from './data-directory.ts'
import { readSecret } from './database/secret.ts'
import { downloadCounter } from './files/counting/download-counter.ts'
import { openDownloadJournal } from './files/counting/download-journal.ts'
import { journalMetrics } from './files/counting/journal-metrics.ts'
import { capabilities } from './files/downloads/capability.ts'
import { collectRegularly } from './files/garbage/collect-regularly.ts'
import { garbageCollection } from './files/garbage/garbage-collection.ts'
import { fileProcessor } from './files/processing/file-processor.ts'
import { processingQueue } from './files/processing/processing-queue.ts'
import { blobRepository } from './files/rows/blob-repository.ts'
import { fileRepository } from './files/rows/file-repository.ts'
import { openTrash } from './files/rows/trash.ts'
import { makeMetrics, transferMetrics } from './http/metrics.ts'
import { type Site, siteOf } from './http/site.ts'
import { openData, type RegistryData } from './identity/open-data.ts'
import { startMetadataPeer } from './metadata-peer/metadata-peer.ts'
import { metadataMetrics } from './metadata-peer/metrics.ts'
import { metadataSource } from './metadata-peer/source.ts'
import { modelList } from './models/model-list.ts'
import { modelRepository } from './models/model-repository.ts'
import { modelTotals } from './models/model-totals.ts'
import { spaceMetrics } from './store/space-metrics.ts'
import { memorySwarms } from './swarm/memory-swarms.ts'
import { startUpkeep } from './upkeep.ts'

export { type Admin, adoptStore, openAdmin } from './admin/admin.ts'
export { type RegistryConfig, type RegistryFlags, readRegistryConfig } from './config.ts'
export { ConfigError } from './errors.ts'

export type RunningRegistry = {
  /** Where clients find it, as in `http://localhost:8000`. */
  url: string
  /** Where it listens. */
  port: number
  dataDirectory: string
  /** What the first account has to show; undefined where none is asked for. */
  setupCode: string | undefined
  /** It listens for other machines, and yet gives them URLs that lead to themselves: `baseUrl` is not set. */
  isMisaddressed: boolean
  /** Tells pages where the local API on this machine is; empty where none runs. Unset: at its usual address, perhaps. */
  setLocalApi(address: string): void
  /** A token of the account that publishes the demo models, for one hour. */
  systemToken(): Promise<string>
  /** Ends in order: no new work, running requests finish, jobs are put back. At most 10 seconds. */
  close(): Promise<void>
}

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8'))
const upkeepEveryMs = 2_000
/** Short enough to be typed; the rate limit of sign-ins bounds guesses. */
const setupCodeBytes = 6
/** The process ends within 10 s: after this, connections to the database and the log have a second each. */
const closeTimeoutMs = 7_000
const drainAtMostMs = 6_500

/** Starts a registry. Throws a `ConfigError` for settings that cannot be, and the system's error when the port is taken. */
export async function startRegistry(config: RegistryConfig): Promise<RunningRegistry> {
  await using opened = new AsyncDisposableStack()
  opened.defer(await takeDataDirectory(config.dataDirectory))
  const openedLog = openLog({ to: config.log, level: config.logLevel })
  opened.defer(openedLog.close)
  const site = siteOf(config)
  const data = await openData({
    ...config,
    onConnectionLost: (error) =>
      openedLog.log.warn({ err: error }, 'a database connection was lost'),
    store: {
      baseUrl: site.baseUrl,
      reserveBytes: config.reserveBytes,
      patienceMs: { alone: config.timeouts.senderMs, waitedFor: 2_000 },
    },
    mayBeNew: true,
  })
  opened.defer(data.connection.close)
  const running = await serve(config, { data, site, openedLog })
  const kept = opened.move()
  return {
    ...running,
    async close() {
      try {
        await running.close()
      } finally {
        await kept.disposeAsync()
      }
    },
  }
}

type Opened = {
  data: RegistryData
  site: Site
  openedLog: OpenLog
}

async function serve(
  config: RegistryConfig,
  { data: { connection, store, signingKey }, site, openedLog: { log, droppedLines } }: Opened,
): Promise<RunningRegistry> {
  await using started = new AsyncDisposableStack() // ended again, should the rest not start
  const { db, unboundedDb, fullText, engine } = connection
  const accounts = accountRepository(db)
  const onUnnoted = atMostEvery(60_000, (error: unknown) =>
    log.warn({ err: error }, 'the last use of a credential could not be written'),
  )
  const sessions = sessionRepository(db, onUnnoted)
  const networks = networkRepository(db, await readSecret(db, 'network-key'))
  const swarms = memorySwarms({ silentAfterMs: 2_000 * config.announceIntervalSeconds })
  const files = fileRepository(db, fullText, swarms)
  const blobs = blobRepository(db)
  const trash = openTrash({ db, store, keptDays: config.trashDays, log })
  const collect = garbageCollection(db, store, trash)
  const queue = processingQueue(db, engine)
  await queue.freeAll()
  await collect.removeEndedUploads().catch((error) => {
    log.error({ err: error }, 'bytes that a crash has left were not removed')
  })
  const processor = fileProcessor({ queue, files, blobs, store, collect, log })
  started.defer(processor.close)
  const isPrivatePlace = isLoopback(config.host) && isLoopback(new URL(site.baseUrl()).hostname)
  const setupCode =
    !isPrivatePlace && (await accounts.isFirstMissing())
      ? await readSecret(db, setupCodeName, setupCodeBytes)
      : undefined
  const journal = await openDownloadJournal({
    db,
    engine,
    path: join(config.dataDirectory, 'downloads.journal'),
  })
  started.defer(journal.close)
  const onUpkeepError = atMostEvery(60_000, (error: unknown) =>
    log.warn({ err: error }, 'the upkeep of the data was not done'),
  )
  await journal.apply().catch(onUpkeepError)
  const metrics = makeMetrics({ droppedLogLines: droppedLines })
  journalMetrics(metrics.registry, journal)
  spaceMetrics(metrics.registry, store)
  transferMetrics(metrics.registry, store.budget)
  // What it tells, anybody may ask for: on a registry for members nobody could be kept from it.
  const hasPeer = config.peerPort !== undefined && config.isAnonymousReadAllowed
  const metadataPeer = hasPeer
    ? await startMetadataPeer({
        host: config.host,
        port: config.peerPort ?? 0,
        source: metadataSource(db),
        metrics: metadataMetrics(metrics.registry),
        log,
      })
    : undefined
  started.defer(() => metadataPeer?.close())
  const cards = cardRenderer({ log })
  let isDraining = false

  const web = await findSite()
  if (!web) log.warn('there are no web pages: npm run build makes them')
  const app = await buildApp({
    config,
    version,
    log,
    site,
    setupCode,
    connection,
    store,
    servedStore: store,
    accounts,
    sessions,
    keys: apiKeyRepository(db, onUnnoted),
    networks,
    models: modelRepository(db, fullText),
    list: modelList(db, fullText),
    totals: modelTotals(db, fullText),
    cards,
    files,
    blobs,
    capabilities: capabilities(db, signingKey),
    downloads: downloadCounter(connection, journal),
    collect,
    trash,
    processor,
    metrics,
    swarms,
    extraPeer: () => metadataPeer && { port: metadataPeer.port },
    isDraining: () => isDraining,
    web,
  })
  const drain = drainOf(app, drainAtMostMs)
  await app.listen({ host: config.host, port: config.port })
  const upkeep = startUpkeep(
    upkeepEveryMs,
    [journal.apply, async () => connection.ballast?.restore()],
    onUpkeepError,
  )
  const { port } = app.server.address() as AddressInfo
  site.listensOn(port)

  const stopCollecting = collectRegularly({
    // Reads whole tables, for which a request has no time.
    collect: garbageCollection(unboundedDb, store, trash),
    trash,
    deleteExpired: () => Promise.all([sessions.deleteExpired(), networks.deleteOld()]),
    metrics: metrics.registry,
    log,
  })

  started.move() // from here on, `close` ends it
  return {
    url: site.baseUrl(),
    port,
    dataDirectory: config.dataDirectory,
    setupCode,
    isMisaddressed: !isLoopback(config.host) && isLoopback(new URL(site.baseUrl()).hostname),
    setLocalApi: site.setLocalApi,
    async systemToken() {
      const account = await accounts.getSystemAccount()
      return (await sessions.create(account, systemUsername, 3_600)).token
    },
    async close() {
      isDraining = true
      stopCollecting()
      // What waits for a database that does not answer ends with its connection.
      await atMost(closeTimeoutMs, [
        Promise.all([drain(), upkeep.stop()]).then(journal.close),
        processor.close(),
        metadataPeer?.close(),
      ])
      await cards.close()
      await swarms.close()
    },
  }
}
