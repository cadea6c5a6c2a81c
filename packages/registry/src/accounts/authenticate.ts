import { fastifyCookie } from '@fastify/cookie'
import type { Step, StepRequest } from '@shoal/server'
import { isSame } from '@shoal/server'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { forbidden, unauthenticated } from '../errors.ts'
import { clientNetwork } from '../http/client-network.ts'
import type { Site } from '../http/site.ts'
import type { ApiKeyRepository } from './api-key-repository.ts'
import type { Caller } from './caller.ts'
import type { CredentialGuard } from './credential-guard.ts'
import { sessionCookie } from './session-cookie.ts'
import type { SessionRepository } from './session-repository.ts'
import { classifyToken } from './tokens.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller, or undefined for an anonymous request. */
    caller: Caller | undefined
    /**
     * Whether the request has an invalid Bearer token. Such a request is rejected only after it has been counted toward
     * the rate limit.
     */
    isBearerBad: boolean
    /** Whether the Bearer token is the route's `routeToken`, which belongs to no account. */
    hasRouteToken: boolean
    /** Returns the caller, or throws if the request is anonymous. */
    signedIn(): Caller
  }
  interface FastifyContextConfig {
    /** Whether the route serves anonymous requests even if the registry is members-only. */
    isOpen?: boolean
    /**
     * Whether the route serves requests without identifying the caller, so that it works even if the database is down.
     */
    ignoresCredentials?: boolean
    /** An additional Bearer token that is valid only for this route. */
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

type Identified = StepRequest & Pick<FastifyRequest, 'caller' | 'isBearerBad' | 'hasRouteToken'>

/**
 * Identifies the caller by a Bearer token (RFC 6750), or by the session cookie that the registry's own pages send.
 * Returns the step that identifies the caller, and a plugin with the checks that follow the steps.
 */
export function authentication(dependencies: Dependencies) {
  const { sessions, keys, guard, site, isAnonymousReadAllowed } = dependencies

  const step: Step<Identified> = (request) => {
    const { authorization, cookie } = request.headers
    const isAnonymous = authorization === undefined && cookie === undefined
    if (isAnonymous || request.route.config.ignoresCredentials) return undefined
    return identify(request)
  }

  const checks = fp(async (app: FastifyInstance) => {
    app.decorateRequest('caller', undefined)
    app.decorateRequest('isBearerBad', false)
    app.decorateRequest('hasRouteToken', false)
    app.decorateRequest('signedIn', function signedIn(this: FastifyRequest) {
      if (!this.caller) throw unauthenticated('this request requires a token: sign in first')
      return this.caller
    })

    /** Runs after the rate limit, so that requests with guessed tokens count toward the limit. */
    app.addHook('preParsing', (request, _reply, _payload, done) => {
      if (request.isBearerBad) {
        return done(unauthenticated('this token is unknown, revoked or expired'))
      }
      // Node uses only the first of several values, and a proxy in front may have checked another one.
      const { ignoresCredentials, isOpen } = request.route.config
      if (
        !ignoresCredentials &&
        request.headers.authorization !== undefined &&
        isRepeated(request)
      ) {
        return done(unauthenticated('Authorization must be sent only once'))
      }
      const isForMembers = !isAnonymousReadAllowed && !isOpen
      if (isForMembers && !request.caller && !request.is404) {
        return done(unauthenticated('this registry is for members only: sign in first'))
      }
      done()
    })

    /**
     * Identifies the caller again after the body has arrived, because the caller may have lost access in the meantime. A
     * request without a body is handled immediately, so it needs no second check.
     */
    app.addHook('preHandler', async (request) => {
      const { caller, body } = request
      if (!caller || body === undefined || body === null) return
      request.caller = undefined
      await identify(request)
      if (!request.caller) throw unauthenticated('this token is unknown, revoked or expired')
    })
  })

  const isRepeated = ({ raw }: FastifyRequest) =>
    (raw.headersDistinct.authorization ?? []).length > 1

  async function identify(request: Identified): Promise<undefined> {
    const { authorization } = request.headers
    const { routeToken } = request.route.config
    if (authorization !== undefined) {
      const token = /^Bearer +([^ ]+)$/i.exec(authorization)?.[1] ?? ''
      request.hasRouteToken = routeToken !== undefined && isSame(token, routeToken)
      if (request.hasRouteToken) return
      request.caller = await callerByToken(token, request)
      request.isBearerBad = request.caller === undefined
      return
    }
    const session = fastifyCookie.parse(request.headers.cookie ?? '')[sessionCookie]
    if (session) request.caller = await callerByCookie(session, request)
  }

  async function callerByToken(token: string, request: Identified) {
    const kind = classifyToken(token)
    if (kind === undefined) return undefined
    return guard.find(token, clientNetwork(request), () =>
      kind === 'session' ? sessions.findCaller(token) : keys.findCaller(token),
    )
  }

  /**
   * An invalid cookie is ignored. With a valid cookie, requests that change something are accepted only from the
   * registry's own pages.
   */
  async function callerByCookie(session: string, request: Identified) {
    if (classifyToken(session) !== 'session') return undefined
    const network = clientNetwork(request)
    const caller = await guard.find(session, network, () => sessions.findCaller(session))
    const isOwnPage = request.headers.origin === site.baseUrl()
    if (caller && !changesNothing.has(request.method) && !isOwnPage) {
      throw forbidden("a cookie authorizes only requests from this registry's own pages")
    }
    return caller
  }

  return { step, checks }
}
