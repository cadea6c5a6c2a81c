/** Starts and stops the registry: opens the data, builds the application, listens, and shuts down. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { cardRenderer } from '@shoal/cards'
import { isLoopback } from '@shoal/core/addresses'
import { startUpkeep, throttle, waitUpTo } from '@shoal/core/async'
import { type OpenLog, openLog } from '@shoal/log'
import type { Packing } from '@shoal/releases'
import { createDrain, listen } from '@shoal/server'
import { findSite } from '@shoal/web'
import { openAccounts } from './accounts/open-accounts.ts'
import { buildApp } from './app.ts'
import type { RegistryConfig } from './config.ts'
import { openFiles } from './files/open-files.ts'
import { makeMetrics, transferMetrics } from './http/metrics.ts'
import { createSite, type Site } from './http/site.ts'
import { keepBaseUrl } from './identity/base-url.ts'
import { takeDataDirectory } from './identity/data-directory.ts'
import { openData, type RegistryData } from './identity/open-data.ts'
import { openMetadataPeer } from './metadata-peer/open-metadata-peer.ts'
import { fillFromCards } from './models/fill-from-cards.ts'
import { openModels } from './models/open-models.ts'
import { openPeople } from './people/open-people.ts'
import { nodeMessages } from './redis/node-messages.ts'
import { openOwnReleases, startPackingOwn } from './releases/own-releases.ts'
import { spaceMetrics } from './store/space-metrics.ts'
import { memorySwarms } from './swarm/memory-swarms.ts'
import { sharedSwarms } from './swarm/redis/shared-swarms.ts'

export { type Admin, adoptStore, openAdmin } from './admin/admin.ts'
export type { StoreDescription } from './admin/describe-store.ts'
export { type RegistryConfig, type RegistryFlags, readRegistryConfig } from './config.ts'
export { ConfigError } from './errors.ts'

export type RunningRegistry = {
  /** The base URL, such as `http://localhost:8000`. */
  url: string
  /** The port on which the registry listens. */
  port: number
  dataDirectory: string
  /** The setup code for the first account; undefined if none is required. */
  setupCode: string | undefined
  /**
   * Whether the registry accepts connections from other machines even though the URLs in its responses contain a
   * loopback address, for example because `baseUrl` is not set.
   */
  isMisaddressed: boolean
  /**
   * Sets the address at which pages look for the local API on this machine; empty if no local API is running. Until
   * this is called, pages try the default address.
   */
  setLocalApi(address: string): void
  /** Creates a token for the account that publishes the demo models. The token is valid for one hour. */
  systemToken(): Promise<string>
  /**
   * Shuts down gracefully: accepts no new work, finishes requests in progress, and returns unfinished jobs to the
   * queue. Takes at most 10 seconds.
   */
  close(): Promise<void>
}

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8'))
const upkeepIntervalMs = 2_000
/**
 * Shorter than the 10 s within which the process must end, because the database connections and the log may then each
 * take another second to close.
 */
const closeTimeoutMs = 7_000
const drainTimeoutMs = 6_500

/** Starts a registry. Throws a `ConfigError` for invalid settings, or the system error if the port is in use. */
export async function startRegistry(config: RegistryConfig): Promise<RunningRegistry> {
  await using opened = new AsyncDisposableStack()
  opened.defer(await takeDataDirectory(config.dataDirectory))
  const openedLog = openLog({ to: config.log, level: config.logLevel })
  opened.defer(openedLog.close)
  const site = createSite(config)
  const data = await openData({
    ...config,
    onConnectionLost: (error) => openedLog.log.warn({ err: error }, 'a database connection failed'),
    onOlderExcluded: () =>
      openedLog.log.warn(
        'the database was migrated, and earlier versions cannot use it: stop every node that still runs an earlier version',
      ),
    warn: (details, message) => openedLog.log.warn(details, message),
    store: {
      baseUrl: site.baseUrl,
      reserveBytes: config.reserveBytes,
      senderTimeoutMs: { alone: config.timeouts.senderMs, waitedFor: 2_000 },
    },
    followsChanges: true,
    probesStore: true,
    mayBeNew: true,
  })
  opened.defer(data.connection.close)
  opened.defer(data.store.close)
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
  {
    data: { connection, store, s3Support, signingKey, identity },
    site,
    openedLog: { log, droppedLines },
  }: Opened,
): Promise<RunningRegistry> {
  await using started = new AsyncDisposableStack() // disposed of if a later step fails
  const { db } = connection
  if (s3Support) log.info(s3Support, 'the S3 store was probed')
  const metrics = makeMetrics({ droppedLogLines: droppedLines })
  spaceMetrics(metrics.registry, store)
  transferMetrics(metrics.registry, store.budget)
  const accounts = await openAccounts({ ...config, db, log })
  const people = openPeople(db, config.quotaBytes)
  const shared = await openShared(config, identity, log)
  started.defer(() => shared?.close())
  const swarmOptions = {
    silentAfterMs: 2_000 * config.announceIntervalSeconds,
    limits: { peersPerSwarm: config.peersPerSwarm, peersPerNetwork: config.peersPerAddress },
  }
  const swarms = shared ? sharedSwarms(shared, swarmOptions) : memorySwarms(swarmOptions)
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
    log.warn({ err: error }, 'periodic maintenance failed'),
  )
  await files.journal.apply().catch(onUpkeepError)
  const metadataPeer = await openMetadataPeer({ config, db, metrics: metrics.registry, log })
  started.defer(() => metadataPeer?.close())
  if (metadataPeer && shared && config.peerAddress === undefined) {
    log.warn(
      'SHOAL_PEER_ADDRESS is not set: the tracker does not return the metadata peer, so magnet links may not work',
    )
  }
  const models = openModels(connection)
  started.defer(models.search.close)
  const cards = cardRenderer({ log })
  const releases = openOwnReleases(config)
  let packing: Packing | undefined
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
    accounts,
    people,
    models,
    files,
    cards,
    swarms,
    shared,
    messages: shared && nodeMessages(shared),
    extraPeer: () => findExtraPeer(config, metadataPeer),
    releases,
    isPacking: () => packing?.isActive === true,
    isDraining: () => isDraining,
  })
  const drain = createDrain(app, drainTimeoutMs)
  const port = await listen(app, config)
  site.listensOn(port)
  await keepBaseUrl(db, site.baseUrl()).catch(onUpkeepError)
  const upkeep = startUpkeep(
    upkeepIntervalMs,
    [
      files.journal.apply,
      async () => connection.ballast?.restore(),
      fillFromCards(db, models.models),
    ],
    onUpkeepError,
  )
  const stopCollecting = files.collectRegularly(() =>
    Promise.all([accounts.deleteExpired(), people.invitations.deleteOld()]),
  )

  packing = startPackingOwn({ config, db, releases, log })

  if (await models.models.hasAny()) {
    models.search
      .load()
      .catch((error: unknown) => log.warn({ err: error }, 'could not load the search index'))
  }

  started.move() // from here on, `close` stops what was started
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
      // Requests that wait for an unresponsive database outlast this timeout. They end when the caller closes the
      // database connections.
      await waitUpTo(closeTimeoutMs, [
        drain(),
        upkeep.stop(),
        files.processor.close(),
        packing?.stop(),
        metadataPeer?.close(),
      ])
      await models.search.close()
      await cards.close()
      await swarms.close()
      shared?.close()
    },
  }
}

/**
 * Returns the address of the metadata peer that the tracker adds to its responses. With several nodes (`redisUrl`),
 * clients cannot reach the peer at the load balancer's address, so it is added only if `peerAddress` is set.
 */
function findExtraPeer(
  { peerAddress: address, redisUrl }: RegistryConfig,
  peer?: { port: number },
) {
  if (!peer) return undefined
  if (address !== undefined) return { address, port: peer.port }
  return redisUrl === undefined ? { port: peer.port } : undefined
}

/** Opens the state that the registry's nodes share. Returns undefined if the registry has only one node. */
async function openShared({ redisUrl }: RegistryConfig, identity: string, log: OpenLog['log']) {
  if (redisUrl === undefined) return undefined
  const { openRedis } = await import('./redis/open-redis.ts') // loads `ioredis` only if it is needed
  return openRedis(redisUrl, { prefix: `shoal:{${identity}}:`, log })
}
