import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { invalid } from '../errors.ts'
import type { Site } from './site.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answered under any name: load balancers ask by an address. */
    ignoresHost?: boolean
  }
}

/** Refuses calls that were meant for another host (DNS rebinding). */
export const hostCheck = fp(async (app: FastifyInstance, { site }: { site: Site }) => {
  app.addHook('onRequest', async ({ headers, routeOptions }) => {
    if (routeOptions.config.ignoresHost || site.isOurHost(headers.host)) return
    throw invalid(
      'this host name is not served here: set SHOAL_BASE_URL or SHOAL_ALLOWED_HOSTS to allow it',
      { code: 'unknown_host' },
    )
  })
})
