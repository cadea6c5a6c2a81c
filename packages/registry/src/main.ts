/**
 * Starts and stops the registry: reads the configuration, connects, builds the app, listens,
 * closes.
 */
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { isLoopback } from '@shoal/core/addresses'
import { type OpenLog, openLog } from '@shoal/log'
import { createDrain } from '@shoal/server'
import { findSite } from '@shoal/web'
import { openAccounts } from './accounts/open-accounts.ts'
import { buildApp } from './app.ts'
import { cardRenderer } from './cards/card-renderer.ts'
import type { RegistryConfig } from './config.ts'
import { takeDataDirectory } from './data-directory.ts'
import { openFiles } from './files/open-files.ts'
import { makeMetrics, transferMetrics } from './http/metrics.ts'
import { createSite, type Site } from './http/site.ts'
import { openData, type RegistryData } from './identity/open-data.ts'
import { openMetadataPeer } from './metadata-peer/open-metadata-peer.ts'
import { openModels } from './models/open-models.ts'
import { spaceMetrics } from './store/space-metrics.ts'
import { memorySwarms } from './swarm/memory-swarms.ts'
import { throttle } from './throttle.ts'
import { startUpkeep } from './upkeep.ts'
import { waitUpTo } from './wait-up-to.ts'

export { type Admin, adoptStore, openAdmin } from './admin/admin.ts'
export { type RegistryConfig, type RegistryFlags, readRegistryConfig } from './config.ts'
export { ConfigError } from './errors.ts'

export type RunningRegistry = {
  /** The address for clients, as in `http://localhost:8000`. */
  url: string
  /** The address on which it listens. */
  port: number
  dataDirectory: string
  /** The setup code for the first account; undefined if none is required. */
  setupCode: string | undefined
  /**
   * Whether it listens for other machines although the URLs in its responses are on loopback, because `baseUrl` is not
   * set.
   */
  isMisaddressed: boolean
  /**
   * Tells pages the address of the local API on this machine; empty if none is running. If not called, pages try its
   * default address.
   */
  setLocalApi(address: string): void
  /** A token of the account that publishes the demo models, valid for one hour. */
  systemToken(): Promise<string>
  /**
   * Shuts down gracefully: accepts no new work, finishes running requests, puts jobs back. Takes at most 10 seconds.
   */
  close(): Promise<void>
}

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8'))
const upkeepIntervalMs = 2_000
/**
 * The process ends within 10 s: after this timeout, the database connections and the log have a
 * second each.
 */
const closeTimeoutMs = 7_000
const drainTimeoutMs = 6_500

/** Starts a registry. Throws a `ConfigError` for invalid settings, and the system's error if the port is in use. */
export async function startRegistry(config: RegistryConfig): Promise<RunningRegistry> {
  await using opened = new AsyncDisposableStack()
  opened.defer(await takeDataDirectory(config.dataDirectory))
  const openedLog = openLog({ to: config.log, level: config.logLevel })
  opened.defer(openedLog.close)
  const site = createSite(config)
  const data = await openData({
    ...config,
    onConnectionLost: (error) =>
      openedLog.log.warn({ err: error }, 'a database connection was lost'),
    store: {
      baseUrl: site.baseUrl,
      reserveBytes: config.reserveBytes,
      senderTimeoutMs: { alone: config.timeouts.senderMs, waitedFor: 2_000 },
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
  await using started = new AsyncDisposableStack() // closed again if a later step fails
  const { db } = connection
  const metrics = makeMetrics({ droppedLogLines: droppedLines })
  spaceMetrics(metrics.registry, store)
  transferMetrics(metrics.registry, store.budget)
  const accounts = await openAccounts({ db, log })
  const swarms = memorySwarms({ silentAfterMs: 2_000 * config.announceIntervalSeconds })
  const files = started.use(
    await openFiles({
      connection,
      store,
      signingKey,
      swarms,
      config,
      metrics: metrics.registry,
      log,
    }),
  )
  const isPrivatePlace = isLoopback(config.host) && isLoopback(new URL(site.baseUrl()).hostname)
  const setupCode = isPrivatePlace ? undefined : await accounts.readSetupCode()
  const onUpkeepError = throttle(60_000, (error: unknown) =>
    log.warn({ err: error }, 'maintenance of the data failed'),
  )
  await files.journal.apply().catch(onUpkeepError)
  const metadataPeer = await openMetadataPeer({ config, db, metrics: metrics.registry, log })
  started.defer(() => metadataPeer?.close())
  const models = openModels(connection)
  started.defer(models.search.close)
  const cards = cardRenderer({ log })
  let isDraining = false

  const web = await findSite()
  if (!web) log.warn('the web pages are not built: run npm run build')
  const app = await buildApp({
    config,
    version,
    log,
    site,
    metrics,
    web,
    setupCode,
    connection,
    store,
    servedStore: store,
    accounts,
    models,
    files,
    cards,
    swarms,
    extraPeer: () => metadataPeer && { port: metadataPeer.port },
    isDraining: () => isDraining,
  })
  const drain = createDrain(app, drainTimeoutMs)
  await app.listen({ host: config.host, port: config.port })
  const { port } = app.server.address() as AddressInfo
  site.listensOn(port)
  const upkeep = startUpkeep(
    upkeepIntervalMs,
    [files.journal.apply, async () => connection.ballast?.restore()],
    onUpkeepError,
  )
  const stopCollecting = files.collectRegularly(accounts.deleteExpired)

  if (await models.models.hasAny()) {
    models.search
      .load()
      .catch((error: unknown) => log.warn({ err: error }, 'could not load the search index'))
  }

  started.move() // from here on, `close` stops it
  return {
    url: site.baseUrl(),
    port,
    dataDirectory: config.dataDirectory,
    setupCode,
    isMisaddressed: !isLoopback(config.host) && isLoopback(new URL(site.baseUrl()).hostname),
    setLocalApi: site.setLocalApi,
    systemToken: accounts.makeSystemToken,
    async close() {
      isDraining = true
      stopCollecting()
      // Requests that wait for a database that does not respond end with its connection.
      await waitUpTo(closeTimeoutMs, [
        Promise.all([drain(), upkeep.stop()]).then(files.journal.close),
        files.processor.close(),
        metadataPeer?.close(),
      ])
      await models.search.close()
      await cards.close()
      await swarms.close()
    },
  }
}
