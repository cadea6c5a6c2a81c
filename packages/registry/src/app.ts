/** Builds the application: registers the routes of each feature, with the dependencies that they need. */

import type { CardRenderer } from '@shoal/cards'
import type { Releases } from '@shoal/releases'
import { caching, createResponseCache, responseCaching } from '@shoal/server/cache'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { accountRoutes } from './accounts/account-routes.ts'
import { apiKeyRoutes } from './accounts/api-key-routes.ts'
import type { Accounts } from './accounts/open-accounts.ts'
import { cardRoutes } from './cards/card-routes.ts'
import type { Connection } from './database/connect.ts'
import { blobRoutes } from './files/downloads/blob-routes.ts'
import { downloadRoutes } from './files/downloads/download-routes.ts'
import { torrentRoutes } from './files/downloads/torrent-routes.ts'
import type { Files } from './files/open-files.ts'
import { fileRoutes } from './files/uploads/file-routes.ts'
import { sentBytes } from './http/metrics.ts'
import { queryTurns } from './http/query-turns.ts'
import { roomForDeletions } from './http/room-for-deletions.ts'
import { memberRoutes } from './models/member-routes.ts'
import { modelRoutes } from './models/model-routes.ts'
import type { Models } from './models/open-models.ts'
import { operationRoutes } from './operation/operation-routes.ts'
import { feedRoutes } from './pages/feed-routes.ts'
import { pageRoutes, pageSender } from './pages/page-routes.ts'
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

const isAnonymous = ({ caller, isBearerBad }: FastifyRequest) =>
  caller === undefined && !isBearerBad

export async function buildApp(dependencies: AppDependencies): Promise<FastifyInstance> {
  const { config, site, connection, store, metrics, web, swarms, shared, cards } = dependencies
  const { accounts, sessions, keys, networks, passwords } = dependencies.accounts
  const { people, invitations } = dependencies.people
  const { models, members, likes, list, totals } = dependencies.models
  const { files, blobs, capabilities, manifests, downloads, collect, trash, processor } =
    dependencies.files
  const { db, ballast } = connection
  const cache = createResponseCache({
    name: 'response',
    isAnonymous,
    databaseVersion: connection.version,
    seedersVersion: swarms.seedersVersion,
    limits: config.responseCache,
    metrics: metrics.registry,
  })
  const presigned = createResponseCache({
    name: 'presigned',
    isAnonymous,
    statuses: [200, 302],
    maxAgeMs: maxPresignedAgeMs,
    databaseVersion: connection.versionWithoutCounts,
    limits: config.responseCache,
    metrics: metrics.registry,
  })
  const { app, guard } = await makeShell({ ...dependencies, caches: [cache, presigned] })

  // The search index handles one query at a time. While one query searches the index, a second one can read its search
  // results from the database.
  const turns = queryTurns({ maxConcurrent: 2 })

  await app.register(async (scope) => {
    await scope.register(caching)
    if (ballast) await scope.register(roomForDeletions, { ballast })
    await scope.register(responseCaching, { cache })
    const { isRegistrationOpen, quotaBytes, clock } = config
    await scope.register(accountRoutes, {
      accounts,
      sessions,
      networks,
      passwords,
      guard,
      site,
      people,
      isRegistrationOpen,
      setupCode: dependencies.setupCode,
      clock,
    })
    await scope.register(apiKeyRoutes, { keys, guard })
    await scope.register(modelRoutes, {
      models,
      likes,
      list,
      totals,
      collect,
      site,
      turns,
      connection,
    })
    await scope.register(fileRoutes, {
      db,
      models,
      files,
      blobs,
      store,
      collect,
      trash,
      processor,
      quotaBytes,
    })
    await scope.register(torrentRoutes, { models, files, blobs, capabilities, site })
  })
  await app.register(async (scope) => {
    if (ballast) await scope.register(roomForDeletions, { ballast })
    await scope.register(adminRoutes, {
      db,
      accounts,
      passwords,
      keys,
      people,
      invitations,
      models,
      collect,
      site,
    })
    await scope.register(memberRoutes, { models, members })
  })
  await app.register(async (scope) => {
    await scope.register(caching) // without a response cache, because the card renderer has its own cache
    await scope.register(cardRoutes, { models, cards })
  })
  await app.register(async (scope) => {
    await scope.register(responseCaching, { cache: presigned })
    await scope.register(downloadRoutes, {
      models,
      files,
      blobs,
      downloads,
      store,
      capabilities,
      manifests,
      site,
    })
  })
  await app.register(async (scope) => {
    await scope.register(sentBytes, { metrics })
    await scope.register(blobRoutes, { store, trash, blobs, capabilities, site, config })
  })
  await app.register(trackerRoutes, {
    swarms,
    torrents: trackedTorrents({ db, capabilities, clock: config.clock }),
    extraPeer: dependencies.extraPeer,
    baseUrl: site.baseUrl,
    messages: dependencies.messages,
    trustProxy: Boolean(config.trustProxy),
    intervalSeconds: config.announceIntervalSeconds,
    metrics: metrics.registry,
  })
  await app.register(operationRoutes, {
    db,
    store,
    connection,
    config,
    shared,
    metrics: metrics.registry,
    metricsToken: config.metricsToken,
    isDraining: dependencies.isDraining,
  })
  await app.register(async (scope) => {
    await scope.register(caching)
    await scope.register(ownReleaseRoutes, {
      releases: dependencies.releases,
      isPacking: dependencies.isPacking,
      site,
      store,
      showPage: web && pageSender(app, { web, site, storeOrigin: store.ownOrigin }),
    })
    await scope.register(async (cached) => {
      await cached.register(responseCaching, { cache })
      await cached.register(feedRoutes, { list, site, turns })
      await cached.register(searchEngineRoutes, { list, site, turns, config })
    })
    if (web) await scope.register(pageRoutes, { web, site, storeOrigin: store.ownOrigin, cache })
  })
  return app
}
