/**
 * Builds the part of the application that every request passes through before it reaches a feature: limits, checks and
 * authentication.
 */
import cookie from '@fastify/cookie'
import { namedSchemas } from '@shoal/protocol'
import { makeApp, refuseDeepBodies, type Step, type StepRequest } from '@shoal/server'
import type { ResponseCache } from '@shoal/server/cache'
import { endStalledConnections, limitConnections } from '@shoal/server/connections'
import type { Site as WebSite } from '@shoal/web'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { authentication } from './accounts/authenticate.ts'
import { type CredentialGuard, credentialGuard } from './accounts/credential-guard.ts'
import type { Accounts } from './accounts/open-accounts.ts'
import type { RegistryConfig } from './config.ts'
import { invalid } from './errors.ts'
import { useBodies } from './http/bodies.ts'
import { crossOrigin } from './http/cross-origin.ts'
import { handleError, handleNotFound } from './http/error-handler.ts'
import { hostCheck } from './http/host-check.ts'
import { knownUrls } from './http/known-urls.ts'
import type { Metrics } from './http/metrics.ts'
import { openapi } from './http/openapi.ts'
import { rateLimit, rateLimiter } from './http/rate-limit.ts'
import { logFields } from './http/request-log.ts'
import type { Site } from './http/site.ts'
import { proxyWarning, thisMachine } from './http/this-machine.ts'
import { asksForSocket, useUpgrades } from './http/upgrades.ts'
import { useValidation } from './http/validation.ts'
import { notFoundPage } from './pages/page-routes.ts'
import type { SharedState } from './redis/open-redis.ts'
import { toTrustProxy } from './settings/trusted-proxies.ts'
import type { RegistryStore } from './store/served-store.ts'

export type ShellDependencies = {
  config: RegistryConfig
  version: string
  log: FastifyBaseLogger
  site: Site
  metrics: Metrics
  accounts: Pick<Accounts, 'sessions' | 'keys'>
  /** The web pages; undefined if they are not built. */
  web: WebSite | undefined
  store: Pick<RegistryStore, 'ownOrigin'>
  /** The state that the nodes share; undefined if this is the only node. */
  shared: SharedState | undefined
  /** Responses that can be sent to anonymous callers without Fastify. */
  caches: readonly ResponseCache[]
}

export type Shell = {
  app: FastifyInstance
  /** Protects routes that accept a password or a key in the request body. */
  guard: CredentialGuard
}

/** How long a browser uses only HTTPS for the hostname of the base URL (RFC 6797): a year, in seconds. */
const secureSeconds = 31_536_000

const requireHttps: Step<StepRequest> = (_request, reply) =>
  void reply.header('strict-transport-security', `max-age=${secureSeconds}`)

/** Creates an application without the routes of any feature. */
export async function makeShell({
  config,
  version,
  log,
  site,
  metrics,
  accounts: { sessions, keys },
  web,
  store,
  shared,
  caches,
}: ShellDependencies): Promise<Shell> {
  const { isAnonymousReadAllowed, rateLimits } = config
  const trustProxy = toTrustProxy(config.trustProxy)
  const guard = credentialGuard(rateLimits?.auth, config.clock)
  const caller = authentication({ sessions, keys, guard, site, isAnonymousReadAllowed })
  const steps = [
    ...(site.isSecure() ? [requireHttps] : []),
    hostCheck({ site }),
    ...(trustProxy ? [] : [proxyWarning(log)]),
    crossOrigin,
    caller.step,
    ...(rateLimits ? [rateLimit(rateLimiter(rateLimits, { ...config, shared }))] : []),
  ]
  const app = makeApp({
    log,
    metrics,
    handleError,
    logFields,
    steps,
    shortcut: knownUrls({ caches, trustProxy }),
    makeBody: (_status, detail) => ({ detail }),
    timeoutMessage: 'the headers took too long to arrive',
    fastify: {
      bodyLimit: 1024 * 1024,
      trustProxy,
      http: {
        keepAliveTimeout: config.timeouts.idleMs,
        requestTimeout: 0, // off, because a chunk may arrive slowly; the headers have their own timeout
        headersTimeout: config.timeouts.headersMs,
        connectionsCheckingInterval: config.timeouts.headersMs / 4,
        shouldUpgradeCallback: asksForSocket,
      },
      routerOptions: { maxParamLength: 300 },
    },
  })
  app.setNotFoundHandler(
    web ? notFoundPage(app, { web, site, storeOrigin: store.ownOrigin }) : handleNotFound,
  )
  useUpgrades(app)
  useBodies(app, config.timeouts.senderMs)
  limitConnections(app.server, {
    maxPerAddress: config.maxConnectionsPerAddress,
    trustProxy: Boolean(trustProxy),
    metrics: metrics.registry,
  })
  endStalledConnections(app.server, { ...config.timeouts, log, metrics: metrics.registry })
  refuseDeepBodies(app, invalid)
  useValidation(app)
  for (const schema of namedSchemas) app.addSchema(schema)

  await app.register(cookie, { hook: false }) // only sets cookies; `authentication` reads them
  await app.register(thisMachine, { trustProxy: Boolean(trustProxy) })
  await app.register(caller.checks)
  await app.register(openapi, { version, site, pagesDirectory: web?.directory })
  return { app, guard }
}
