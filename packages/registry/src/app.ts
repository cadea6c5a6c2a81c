/** Builds the application: registers the routes of each feature, with the dependencies that they need. */
import type { Releases } from '@shoal/releases'
import type { FastifyInstance } from 'fastify'
import { accountRoutes } from './accounts/account-routes.ts'
import { apiKeyRoutes } from './accounts/api-key-routes.ts'
import type { Accounts } from './accounts/open-accounts.ts'
import type { CardRenderer } from './cards/card-renderer.ts'
import { cardRoutes } from './cards/card-routes.ts'
import type { Connection } from './database/connect.ts'
import { blobRoutes } from './files/downloads/blob-routes.ts'
import { downloadRoutes } from './files/downloads/download-routes.ts'
import { torrentRoutes } from './files/downloads/torrent-routes.ts'
import type { Files } from './files/open-files.ts'
import { fileRoutes } from './files/uploads/file-routes.ts'
import { caching } from './http/caching.ts'
import { sentBytes } from './http/metrics.ts'
import { queryTurns } from './http/query-turns.ts'
import { createResponseCache, responseCaching } from './http/response-cache.ts'
import { roomForDeletions } from './http/room-for-deletions.ts'
import { memberRoutes } from './models/member-routes.ts'
import { modelRoutes } from './models/model-routes.ts'
import type { Models } from './models/open-models.ts'
import { operationRoutes } from './operation/operation-routes.ts'
import { feedRoutes } from './pages/feed-routes.ts'
import { pageRoutes } from './pages/page-routes.ts'
import { searchEngineRoutes } from './pages/search-engine-routes.ts'
import { adminRoutes } from './people/admin-routes.ts'
import type { People } from './people/open-people.ts'
import type { NodeMessages } from './redis/node-messages.ts'
import { ownReleaseRoutes } from './releases/release-routes.ts'
import { makeShell, type ShellDependencies } from './shell.ts'
import type { RegistryStore } from './store/served-store.ts'
import type { Swarms } from './swarm/swarm.ts'
import { trackedTorrents } from './tracker/announce/tracked-torrents.ts'
import type { ExtraPeer } from './tracker/announce/tracker.ts'
import { trackerRoutes } from './tracker/tracker-routes.ts'

export type AppDependencies = Omit<ShellDependencies, 'caches'> & {
  setupCode: string | undefined
  connection: Connection
  store: RegistryStore
  accounts: Accounts
  people: People
  models: Models
  files: Files
  cards: CardRenderer
  swarms: Swarms
  messages: NodeMessages | undefined
  /** The peer that the tracker adds to its responses about public files: the registry's metadata peer, if any. */
  extraPeer: () => ExtraPeer | undefined
  /** The releases of shoal that the registry offers. */
  releases: Releases
  /** Whether the registry is currently packing its own program as a release. */
  isPacking: () => boolean
  isDraining: () => boolean
}

/**
 * How long a response with a presigned URL may be cached. The time is short, because a chunk's presigned URL expires an
 * hour after it was signed.
 */
const maxPresignedAgeMs = 60_000

export async function buildApp(dependencies: AppDependencies): Promise<FastifyInstance> {
  const { config, site, connection, store, metrics, web, accounts, people, models, files, swarms } =
    dependencies
  const cache = createResponseCache({
    name: 'response',
    databaseVersion: connection.version,
    seedersVersion: swarms.seedersVersion,
    limits: config.responseCache,
    metrics: metrics.registry,
  })
  const presigned = createResponseCache({
    name: 'presigned',
    statuses: [200, 302],
    maxAgeMs: maxPresignedAgeMs,
    databaseVersion: connection.versionWithoutCounts,
    limits: config.responseCache,
    metrics: metrics.registry,
  })
  const { app, guard } = await makeShell({ ...dependencies, caches: [cache, presigned] })
  /** All dependencies; each feature uses some of them. */
  const all = {
    ...dependencies,
    ...accounts,
    ...people,
    ...models,
    ...files,
    db: connection.db,
    guard,
  }

  // The search index handles one query at a time. While one query searches the index, a second one can read its search
  // results from the database.
  const turns = queryTurns({ maxConcurrent: 2 })

  await app.register(async (metadata) => {
    await metadata.register(caching)
    if (connection.ballast)
      await metadata.register(roomForDeletions, { ballast: connection.ballast })
    await metadata.register(responseCaching, { cache })
    const { isRegistrationOpen, quotaBytes, clock } = config
    await metadata.register(accountRoutes, { ...all, isRegistrationOpen, clock })
    await metadata.register(apiKeyRoutes, all)
    await metadata.register(modelRoutes, { ...all, turns })
    await metadata.register(fileRoutes, { ...all, quotaBytes })
    await metadata.register(torrentRoutes, all)
  })
  await app.register(async (people) => {
    if (connection.ballast) await people.register(roomForDeletions, { ballast: connection.ballast })
    await people.register(adminRoutes, all)
    await people.register(memberRoutes, all)
  })
  await app.register(async (cards) => {
    await cards.register(caching) // without a response cache, because the card renderer has its own cache
    await cards.register(cardRoutes, all)
  })
  await app.register(async (downloads) => {
    await downloads.register(responseCaching, { cache: presigned })
    await downloads.register(downloadRoutes, all)
  })
  await app.register(async (blobs) => {
    await blobs.register(sentBytes, { metrics })
    await blobs.register(blobRoutes, all)
  })
  await app.register(trackerRoutes, {
    swarms,
    torrents: trackedTorrents({ ...all, clock: config.clock }),
    extraPeer: dependencies.extraPeer,
    baseUrl: site.baseUrl,
    messages: dependencies.messages,
    trustProxy: Boolean(config.trustProxy),
    intervalSeconds: config.announceIntervalSeconds,
    metrics: metrics.registry,
  })
  await app.register(operationRoutes, {
    ...all,
    metrics: metrics.registry,
    metricsToken: config.metricsToken,
  })
  await app.register(async (pages) => {
    await pages.register(caching)
    await pages.register(ownReleaseRoutes, all)
    await pages.register(async (cached) => {
      await cached.register(responseCaching, { cache })
      await cached.register(feedRoutes, { ...all, turns })
      await cached.register(searchEngineRoutes, { ...all, turns })
    })
    if (web) await pages.register(pageRoutes, { web, site, storeOrigin: store.ownOrigin, cache })
  })
  return app
}
