import type { Step, StepRequest } from '@shoal/server'
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
export const hostCheck =
  ({ site }: { site: Pick<Site, 'isOurHost'> }): Step<StepRequest> =>
  ({ headers, route }) =>
    route.config.ignoresHost || site.isOurHost(headers.host)
      ? undefined
      : invalid(
          'requests for this hostname are not accepted: set SHOAL_BASE_URL or SHOAL_ALLOWED_HOSTS to allow it',
          { code: 'unknown_host' },
        )
