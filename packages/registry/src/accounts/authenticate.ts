import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { forbidden, unauthenticated } from '../errors.ts'
import { clientNetwork } from '../http/client-network.ts'
import type { Site } from '../http/site.ts'
import { isSame } from '../is-same.ts'
import type { ApiKeyRepository } from './api-key-repository.ts'
import type { Caller } from './caller.ts'
import type { CredentialGuard } from './credential-guard.ts'
import { sessionCookie } from './session-cookie.ts'
import type { SessionRepository } from './session-repository.ts'
import { classifyToken } from './tokens.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who calls, or undefined for a stranger. */
    caller: Caller | undefined
    /** A Bearer that is no valid credential: refused once the rate limit has counted the call. */
    isBearerBad: boolean
    /** Whether the Bearer token is the one that the route takes besides those of accounts. */
    hasRouteToken: boolean
    /** The caller; throws for a stranger. */
    signedIn(): Caller
  }
  interface FastifyContextConfig {
    /** Also for strangers on a registry that lets nobody else read. */
    isOpen?: boolean
    /** Answered without asking who calls, and so even while the database is away. */
    ignoresCredentials?: boolean
    /** A further Bearer token, good for this route only. */
    routeToken?: string | undefined
  }
}

type Dependencies = {
  sessions: SessionRepository
  keys: ApiKeyRepository
  guard: CredentialGuard
  site: Site
  isAnonymousReadAllowed: boolean
}

const changesNothing = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Finds out who calls: by a Bearer token (RFC 6750), or by the cookie of the registry's own pages. */
export const authentication = fp(async (app: FastifyInstance, dependencies: Dependencies) => {
  const { sessions, keys, guard, site, isAnonymousReadAllowed } = dependencies

  app.decorateRequest('caller', undefined)
  app.decorateRequest('isBearerBad', false)
  app.decorateRequest('hasRouteToken', false)
  app.decorateRequest('signedIn', function signedIn(this: FastifyRequest) {
    if (!this.caller) throw unauthenticated('sign in first: this call needs a token')
    return this.caller
  })

  app.addHook('onRequest', async (request) => {
    const { authorization } = request.headers
    const { ignoresCredentials, routeToken } = request.routeOptions.config
    if (ignoresCredentials) return
    if (authorization !== undefined) {
      const token = /^Bearer +([^ ]+)$/i.exec(authorization)?.[1] ?? ''
      request.hasRouteToken = routeToken !== undefined && isSame(token, routeToken)
      if (request.hasRouteToken) return
      request.caller = await callerByToken(token, request)
      request.isBearerBad = request.caller === undefined
      return
    }
    const cookie = request.cookies[sessionCookie]
    if (cookie) request.caller = await callerByCookie(cookie, request)
  })

  /** Runs after the rate limit, so that guessing counts. */
  app.addHook('preParsing', async (request) => {
    if (request.isBearerBad) {
      throw unauthenticated('this token is unknown, revoked or expired')
    }
    const isForMembers = !isAnonymousReadAllowed && !request.routeOptions.config.isOpen
    if (isForMembers && !request.caller && !request.is404) {
      throw unauthenticated('this registry is for its members: sign in first')
    }
  })

  async function callerByToken(token: string, request: FastifyRequest) {
    const kind = classifyToken(token)
    if (kind === undefined) return undefined
    return guard.find(token, clientNetwork(request), () =>
      kind === 'session' ? sessions.findCaller(token) : keys.findCaller(token),
    )
  }

  /** A stale cookie counts as none; a good one changes something only for the registry's own pages. */
  async function callerByCookie(cookie: string, request: FastifyRequest) {
    if (classifyToken(cookie) !== 'session') return undefined
    const network = clientNetwork(request)
    const caller = await guard.find(cookie, network, () => sessions.findCaller(cookie))
    const isOwnPage = request.headers.origin === site.baseUrl()
    if (caller && !changesNothing.has(request.method) && !isOwnPage) {
      throw forbidden('a cookie counts only for calls from the pages of this registry')
    }
    return caller
  }
})
