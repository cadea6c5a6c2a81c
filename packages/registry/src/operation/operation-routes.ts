import { endpoints } from '@shoal/protocol'
import type { FastifyPluginAsync } from 'fastify'
import { type Kysely, sql } from 'kysely'
import type { Registry as MetricsRegistry } from 'prom-client'
import { isActingAdmin } from '../accounts/caller.ts'
import type { RegistryConfig } from '../config.ts'
import type { Connection } from '../database/connect.ts'
import type { Database } from '../database/schema.ts'
import { forbidden, unavailable } from '../errors.ts'
import type { SharedState } from '../redis/open-redis.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { readStatus } from './read-status.ts'
import { readiness } from './readiness.ts'

type Dependencies = {
  db: Kysely<Database>
  store: ObjectStore
  connection: Pick<Connection, 'engine'>
  config: Pick<RegistryConfig, 's3' | 'clock'>
  /** The state shared with other nodes; undefined if this is the only node. */
  shared: Pick<SharedState, 'isGone'> | undefined
  metrics: MetricsRegistry
  /** The bearer token with which anyone may read `/metrics`, or undefined if there is none. */
  metricsToken: string | undefined
  isDraining: () => boolean
}

export const operationRoutes: FastifyPluginAsync<Dependencies> = async (app, dependencies) => {
  const { db, store, shared, metrics, metricsToken, isDraining, connection } = dependencies
  const { config: settings } = dependencies
  const schema = { hide: true }
  const config = { isOpen: true, isQuiet: true }
  // Load balancers request these paths frequently, use IP addresses as hostnames, and need a response even while the
  // database is down. Therefore, these paths have no rate limit, and hostnames and credentials are not checked.
  const probe = {
    ...config,
    ignoresCredentials: true,
    ignoresHost: true,
    rateLimitClass: 'none',
  } as const
  const findBroken = readiness(
    { database: () => sql`select 1`.execute(db), store: () => store.check() },
    app.log,
    settings.clock,
  )

  app.get('/healthz', { config: probe, schema }, async () => ({ status: 'ok' }))

  app.get('/readyz', { config: probe, schema }, async () => {
    if (isDraining()) throw unavailable('the registry is shutting down', { retryAfterSeconds: 10 })
    const broken = await findBroken()
    if (broken) throw unavailable(`the ${broken} is not available`, { retryAfterSeconds: 5 })
    if (shared?.isGone()) return { status: 'degraded', detail: 'Redis does not respond' }
    return { status: 'ready' }
  })

  const findBrokenStore = readiness({ store: () => store.check() }, app.log, settings.clock)
  app.route({
    ...endpoints.getStatus,
    async handler(request, reply) {
      if (!isActingAdmin(request.signedIn())) throw forbidden('only administrators can do this')
      reply.header('cache-control', 'no-store')
      return readStatus({
        db,
        engine: connection.engine,
        store,
        storeKind: settings.s3 ? 's3' : 'disk',
        isStoreAvailable: async () => (await findBrokenStore()) === undefined,
      })
    },
  })

  const metricsConfig = { ...config, routeToken: metricsToken }
  app.get('/metrics', { config: metricsConfig, schema }, async (request, reply) => {
    const { caller, hasRouteToken } = request
    const isAdmin = caller !== undefined && isActingAdmin(caller)
    if (!hasRouteToken && !isAdmin && !request.isFromThisMachine()) {
      throw forbidden(
        "metrics can be read only by administrators, from the registry's machine, or with SHOAL_METRICS_TOKEN",
      )
    }
    return reply.type(metrics.contentType).send(await metrics.metrics())
  })
}
