import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { invalid } from '../errors.ts'
import type { Site } from './site.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Whether the route accepts requests for any hostname, for example because load balancers request it by IP address.
     */
    ignoresHost?: boolean
  }
}

/** Refuses requests for hostnames other than the registry's own, to prevent DNS rebinding. */
export const hostCheck = fp(async (app: FastifyInstance, { site }: { site: Site }) => {
  app.addHook('onRequest', ({ headers, route }, _reply, done) => {
    if (route.config.ignoresHost || site.isOurHost(headers.host)) return done()
    done(
      invalid(
        'requests for this hostname are not accepted: set SHOAL_BASE_URL or SHOAL_ALLOWED_HOSTS to allow it',
        { code: 'unknown_host' },
      ),
    )
  })
})
