/** The map of the server: every feature by name, and what each depends on. */
import cookie from '@fastify/cookie'
import cors from '@fastify/cors'
import { namedSchemas } from '@shoal/protocol'
import { makeApp, refuseDeepBodies } from '@shoal/server'
import type { Site as WebSite } from '@shoal/web'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { AccountRepository } from './accounts/account-repository.ts'
import { accountRoutes } from './accounts/account-routes.ts'
import type { ApiKeyRepository } from './accounts/api-key-repository.ts'
import { apiKeyRoutes } from './accounts/api-key-routes.ts'
import { authentication } from './accounts/authenticate.ts'
import { credentialGuard } from './accounts/credential-guard.ts'
import type { NetworkRepository } from './accounts/network-repository.ts'
import type { SessionRepository } from './accounts/session-repository.ts'
import type { CardRenderer } from './cards/card-renderer.ts'
import { cardRoutes } from './cards/card-routes.ts'
import type { RegistryConfig } from './config.ts'
import type { Connection } from './database/connect.ts'
import { invalid } from './errors.ts'
import type { DownloadCounter } from './files/counting/download-counter.ts'
import { blobRoutes } from './files/downloads/blob-routes.ts'
import type { Capabilities } from './files/downloads/capability.ts'
import { downloadRoutes } from './files/downloads/download-routes.ts'
import { torrentRoutes } from './files/downloads/torrent-routes.ts'
import type { GarbageCollection } from './files/garbage/garbage-collection.ts'
import type { FileProcessor } from './files/processing/file-processor.ts'
import type { BlobRepository } from './files/rows/blob-repository.ts'
import type { FileRepository } from './files/rows/file-repository.ts'
import type { Trash } from './files/rows/trash.ts'
import { fileRoutes } from './files/uploads/file-routes.ts'
import { useBodies } from './http/bodies.ts'
import { caching } from './http/caching.ts'
import { limitConnections } from './http/connection-limit.ts'
import { handleError, handleNotFound } from './http/error-handler.ts'
import { hostCheck } from './http/host-check.ts'
import { type Metrics, requestMetrics } from './http/metrics.ts'
import { openapi } from './http/openapi.ts'
import { queryTurns } from './http/query-turns.ts'
import { rateLimits } from './http/rate-limit.ts'
import { logFields } from './http/request-log.ts'
import { responseCache } from './http/response-cache.ts'
import { roomForDeletions } from './http/room-for-deletions.ts'
import type { Site } from './http/site.ts'
import { endStalledConnections } from './http/stalled-connections.ts'
import { thisMachine } from './http/this-machine.ts'
import { asksForSocket, useUpgrades } from './http/upgrades.ts'
import { useValidation } from './http/validation.ts'
import type { ModelList } from './models/model-list.ts'
import type { ModelRepository } from './models/model-repository.ts'
import { modelRoutes } from './models/model-routes.ts'
import type { ModelTotals } from './models/model-totals.ts'
import { operationRoutes } from './operation/operation-routes.ts'
import { feedRoutes } from './pages/feed-routes.ts'
import { notFoundPage, pageRoutes } from './pages/page-routes.ts'
import { schoolRoutes } from './pages/school-routes.ts'
import { searchEngineRoutes } from './pages/search-engine-routes.ts'
import type { ObjectStore } from './store/object-store.ts'
import type { ServedStore } from './store/served-store.ts'
import type { Swarms } from './swarm/swarm.ts'
import { trackedTorrents } from './tracker/announce/tracked-torrents.ts'
import type { ExtraPeer } from './tracker/announce/tracker.ts'
import { trackerRoutes } from './tracker/tracker-routes.ts'

export type AppDependencies = {
  config: RegistryConfig
  version: string
  log: FastifyBaseLogger
  site: Site
  setupCode: string | undefined
  connection: Connection
  store: ObjectStore
  /** The same store, for the routes that its presigned URLs lead to. */
  servedStore: ServedStore
  accounts: AccountRepository
  sessions: SessionRepository
  keys: ApiKeyRepository
  networks: NetworkRepository
  models: ModelRepository
  list: ModelList
  totals: ModelTotals
  cards: CardRenderer
  files: FileRepository
  blobs: BlobRepository
  capabilities: Capabilities
  downloads: DownloadCounter
  collect: GarbageCollection
  trash: Trash
  processor: FileProcessor
  metrics: Metrics
  swarms: Swarms
  /** A peer of our own that the tracker names. */
  extraPeer: () => ExtraPeer | undefined
  isDraining: () => boolean
  /** The web pages; undefined where they were not built. */
  web: WebSite | undefined
}

export async function buildApp(dependencies: AppDependencies): Promise<FastifyInstance> {
  const { config, version, log, site, sessions, keys, connection, store, metrics, web } =
    dependencies
  const app = makeApp({
    log,
    handleError,
    logFields,
    bodyOf: (_status, detail) => ({ detail }),
    timeoutMessage: 'the headers took too long to arrive',
    fastify: {
      bodyLimit: 1024 * 1024,
      // Only what the one in front says: the rest of X-Forwarded-For is hearsay.
      trustProxy: config.trustProxy && ((_address: string, hop: number) => hop === 0),
      keepAliveTimeout: config.timeouts.idleMs,
      http: {
        requestTimeout: 0, // as below, before Node compares it with the next
        headersTimeout: config.timeouts.headersMs,
        connectionsCheckingInterval: config.timeouts.headersMs / 4,
        shouldUpgradeCallback: asksForSocket,
      },
      requestTimeout: 0, // a slow line may take its time with a chunk; the headers may not
      routerOptions: { maxParamLength: 300 },
    },
  })
  app.setNotFoundHandler(web ? notFoundPage(app, { web, site }) : handleNotFound)
  useUpgrades(app)
  useBodies(app, config.timeouts.senderMs)
  limitConnections(app.server, {
    maxPerAddress: config.maxConnectionsPerAddress,
    trustProxy: config.trustProxy,
    metrics: metrics.registry,
  })
  endStalledConnections(app.server, { ...config.timeouts, log, metrics: metrics.registry })
  refuseDeepBodies(app, invalid)
  const addValidated = useValidation(app)
  for (const schema of namedSchemas) {
    app.addSchema(schema)
    addValidated(schema)
  }

  await app.register(requestMetrics, { metrics })
  await app.register(hostCheck, { site })
  await app.register(thisMachine, { trustProxy: config.trustProxy })
  await app.register(cors, {
    origin: '*',
    methods: ['GET', 'HEAD'],
    // WebTorrent asks a web seed with Cache-Control
    allowedHeaders: ['Range', 'If-Range', 'If-None-Match', 'Accept', 'Cache-Control'],
    exposedHeaders: [
      'Content-Range',
      'Content-Length',
      'Accept-Ranges',
      'ETag',
      'X-Total-Count',
      'X-Total-Count-Exact',
      'Link',
    ],
    maxAge: 86_400,
    strictPreflight: false,
  })
  await app.register(cookie)
  const { isAnonymousReadAllowed } = config
  const guard = credentialGuard(config.rateLimits?.auth)
  await app.register(authentication, { sessions, keys, guard, site, isAnonymousReadAllowed })
  if (config.rateLimits) await app.register(rateLimits, { limits: config.rateLimits })
  await app.register(openapi, { version, site })

  // SQLite runs queries one after another in any case; PostgreSQL's pool keeps connections for everything else.
  const turns = queryTurns({ maxAtOnce: connection.engine === 'sqlite' ? 1 : 4 })

  await app.register(async (metadata) => {
    const { db, version: databaseVersion } = connection
    await metadata.register(caching)
    if (connection.ballast)
      await metadata.register(roomForDeletions, { ballast: connection.ballast })
    if (databaseVersion) {
      const { seedersVersion } = dependencies.swarms
      await metadata.register(responseCache, {
        databaseVersion,
        seedersVersion,
        metrics: metrics.registry,
      })
    }
    const { isRegistrationOpen, quotaBytes } = config
    await metadata.register(accountRoutes, { ...dependencies, guard, isRegistrationOpen })
    await metadata.register(apiKeyRoutes, { keys, guard })
    await metadata.register(modelRoutes, { ...dependencies, turns })
    await metadata.register(fileRoutes, { ...dependencies, db, quotaBytes })
    await metadata.register(torrentRoutes, dependencies)
  })
  await app.register(async (cards) => {
    await cards.register(caching) // and no cache of answers: the renderer keeps its own
    await cards.register(cardRoutes, dependencies)
  })
  await app.register(downloadRoutes, dependencies)
  await app.register(blobRoutes, { ...dependencies, store: dependencies.servedStore })
  await app.register(trackerRoutes, {
    swarms: dependencies.swarms,
    torrents: trackedTorrents({ db: connection.db, capabilities: dependencies.capabilities }),
    extraPeer: dependencies.extraPeer,
    baseUrl: site.baseUrl,
    trustProxy: config.trustProxy,
    intervalSeconds: config.announceIntervalSeconds,
    metrics: metrics.registry,
  })
  await app.register(operationRoutes, {
    db: connection.db,
    store,
    metrics: metrics.registry,
    metricsToken: config.metricsToken,
    isDraining: dependencies.isDraining,
  })
  await app.register(async (pages) => {
    await pages.register(caching)
    await pages.register(feedRoutes, { ...dependencies, turns })
    await pages.register(schoolRoutes, dependencies)
    await pages.register(searchEngineRoutes, { ...dependencies, turns })
    if (web) await pages.register(pageRoutes, { web, site })
  })
  return app
}
