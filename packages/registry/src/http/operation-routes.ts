import type { FastifyPluginAsync } from 'fastify'
import { type Kysely, sql } from 'kysely'
import type { Registry as MetricsRegistry } from 'prom-client'
import { isActingAdmin } from '../accounts/caller.ts'
import { isLoopback } from '../config.ts'
import type { Database } from '../database/schema.ts'
import { forbidden, unavailable } from '../errors.ts'
import type { ObjectStore } from '../store/object-store.ts'

type Dependencies = {
  db: Kysely<Database>
  store: ObjectStore
  metrics: MetricsRegistry
  host: string
  isDraining: () => boolean
}

export const operationRoutes: FastifyPluginAsync<Dependencies> = async (app, dependencies) => {
  const { db, store, metrics, host, isDraining } = dependencies
  const config = { isOpen: true, isQuiet: true }
  const schema = { hide: true }

  app.get('/healthz', { config, schema }, async () => ({ status: 'ok' }))

  app.get('/readyz', { config, schema }, async (request) => {
    if (isDraining()) throw unavailable('shutting down', { retryAfterSeconds: 10 })
    const failed = (what: string) => (error: unknown) => {
      request.log.error({ err: error }, `${what} does not answer`)
      throw unavailable(`the ${what} does not answer`, { retryAfterSeconds: 5 })
    }
    await sql`select 1`.execute(db).catch(failed('database'))
    await store.check().catch(failed('store'))
    return { status: 'ready' }
  })

  app.get('/metrics', { config, schema }, async ({ caller, ip }, reply) => {
    const isAdmin = caller !== undefined && isActingAdmin(caller)
    if (!isLoopback(host) && !isLoopback(ip) && !isAdmin) {
      throw forbidden('metrics are for admins and for this machine')
    }
    return reply.type(metrics.contentType).send(await metrics.metrics())
  })
}
