/**
 * The web pages. They are rendered on the server, so that they can be read before the scripts have loaded or without
 * scripts.
 */
import { findRegistryLabel } from '@shoal/core/references'
import { formatPath, pageFiles, pages } from '@shoal/protocol/pages'
import { pageHeaders, serveAssets } from '@shoal/server'
import { type ResponseCache, responseCaching } from '@shoal/server/cache'
import type { Site as WebSite } from '@shoal/web'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { busy } from '../errors.ts'
import { handleNotFound } from '../http/error-handler.ts'
import type { Site } from '../http/site.ts'
import { pageText } from './page-text.ts'
import { renderTurns } from './render-turns.ts'

type Dependencies = {
  web: WebSite
  site: Site
  /** The origin to which the publish page sends chunks; undefined if it is this server. */
  storeOrigin: string | undefined
}
type CachedDependencies = Dependencies & { cache: ResponseCache }

/** More than one, so that other pages can be rendered while a page waits for its data. */
const maxConcurrentPages = 4

/** The URL parameters that `packages/web` reads. */
const parameters = [
  ...['q', 'architecture', 'license', 'tag', 'fits', 'min', 'max', 'sort', 'page'], // lists of models
  ...['tab', 'images'], // model pages
  'next', // sign-in page
  ...['actor', 'action', 'subject'], // audit log
]

export const pageRoutes: FastifyPluginAsync<CachedDependencies> = async (
  app,
  { web, site, storeOrigin, cache },
) => {
  // Pages do not require a session, even on a members-only registry, so that visitors can sign in or register.
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, isOpen: true }
    route.schema = { ...route.schema, hide: true }
  })

  await serveAssets(app, web.directory, ['favicon.svg', 'link-preview.png'])
  // Each model had a picture of its own in version 0.1. Other sites may still use its address.
  app.get('/m/:name/school.png', (_request, reply) => reply.redirect(pageFiles.linkPreview, 301))

  const send = pageSender(app, { web, site, storeOrigin })
  await app.register(async (cached) => {
    await cached.register(responseCaching, { cache })
    const { install: _, ...others } = pages // `/install` is also a script: see `releases`
    for (const address of Object.values(others)) {
      const showsSeeders = address === pages.model
      cached.get(address, { config: { showsSeeders, cacheKey, isCompressible: true } }, send)
    }
  })

  /**
   * Returns the cache key of a page for anonymous visitors, or undefined if the page must not be cached. The key
   * contains everything that the page depends on, except the registry's data.
   */
  function cacheKey(request: FastifyRequest): string | undefined {
    // Visitors with cookies may be signed in, or have chosen a theme.
    if (request.headers.cookie !== undefined) return undefined
    if (site.isOtherLocalName(request.headers.host)) return undefined
    return JSON.stringify([knownAddress(request.url), localApiFor(request, site) ?? null])
  }
}

/**
 * Returns the address of the local API for visitors on this machine. Returns undefined for visitors on other machines,
 * because their pages link to the daemon on their own machine.
 */
const localApiFor = (request: FastifyRequest, site: Site): string | undefined =>
  request.isFromThisMachine() ? site.localApi() : undefined

/**
 * Returns a handler that renders the page at the request's address, or the 404 page. Visitors who use `127.0.0.1`
 * although the base URL contains `localhost`, or vice versa, are redirected, because signing in works only at the base
 * URL. Visitors who use a former name of a model are redirected to its page.
 */
export function pageSender(app: FastifyInstance, { web, site, storeOrigin }: Dependencies) {
  const takeTurn = renderTurns(maxConcurrentPages, () => busy('the client has disconnected'))
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const address = knownAddress(request.url)
    if (site.isOtherLocalName(request.headers.host)) {
      return reply.redirect(site.baseUrl() + address, 307)
    }
    const refusals: Refusal[] = []
    const daemon = localApiFor(request, site)
    const isGone = () => reply.raw.destroyed
    const page = await takeTurn(isGone, () =>
      web.printPage({
        url: address,
        fetch: createFetch(app, request, (refusal) => refusals.push(refusal)),
        cookies: request.headers.cookie ?? '',
        daemon,
        registryUrl: site.baseUrl(),
        registryLabel: findRegistryLabel(site.baseUrl()),
      }),
    )
    const { name } = request.params as { name?: string }
    if (page.modelName !== undefined && page.modelName !== name) {
      const isEditor = request.routeOptions.url === pages.editModel
      const route = isEditor ? pages.editModel : pages.model
      const path = formatPath(route, { name: page.modelName })
      return reply.redirect(path + address.slice(address.split('?')[0]?.length), 301)
    }
    const waits = refusals.filter(({ status }) => status === page.status)
    if (waits.length > 0) {
      const seconds = Math.max(...waits.map(({ retryAfterSeconds }) => retryAfterSeconds))
      reply.header('retry-after', seconds).header('cache-control', 'no-store')
    }
    if (waits.length > 0 || !page.isComplete) request.cacheable = undefined
    return reply
      .code(page.status)
      .headers(
        pageHeaders({
          // External images are allowed only if the visitor requests them with the URL parameter `images`.
          imageSources: /[?&]images=/.test(address) ? "'self' https: http:" : "'self'",
          otherOrigin: storeOrigin,
          referrerPolicy: 'same-origin',
        }),
      )
      .type('text/html; charset=utf-8')
      .send(pageText(web.frame, page, { baseUrl: site.baseUrl(), daemon }))
  }
}

/** Returns the path with the known parameters, in the order in which the client sent them. */
function knownAddress(url: string): string {
  const [path = '', query = ''] = url.split(/\?(.*)/s)
  const known = [...new URLSearchParams(query)].filter(([name]) => parameters.includes(name))
  return known.length === 0 ? path : `${path}?${new URLSearchParams(known)}`
}

/** Returns a handler for unknown addresses, which sends a 404 page to browsers, and a JSON error to programs. */
export function notFoundPage(app: FastifyInstance, dependencies: Dependencies) {
  const send = pageSender(app, dependencies)
  return (request: FastifyRequest, reply: FastifyReply) => {
    const isForPeople = request.method === 'GET' && request.headers.accept?.includes('text/html')
    return isForPeople ? send(request, reply) : handleNotFound(request, reply)
  }
}

/**
 * An API response that asks for a retry: a refusal (status 429 or 503), or a provisional response (status 200), such as
 * a card that has not been rendered yet.
 */
type Refusal = { status: number; retryAfterSeconds: number }

/**
 * Creates a `fetch` that calls the API on behalf of the visitor, so that pages contain only what the visitor may see.
 */
function createFetch(
  app: FastifyInstance,
  request: FastifyRequest,
  onRefused: (refusal: Refusal) => void,
): typeof fetch {
  const passedOn = ['host', 'cookie', 'x-forwarded-for'].flatMap((name) => {
    const value = request.headers[name]
    return typeof value === 'string' ? [[name, value] as const] : []
  })
  const headers = { ...Object.fromEntries(passedOn), 'x-request-id': request.id }
  return async (url, init) => {
    const { statusCode, ...answer } = await app.inject({
      method: 'GET',
      url: String(url),
      headers: { ...(init?.headers as Record<string, string>), ...headers },
      remoteAddress: request.ip,
    })
    const retryAfterSeconds = Number(answer.headers['retry-after'])
    if (retryAfterSeconds > 0) onRefused({ status: statusCode, retryAfterSeconds })
    const body = statusCode === 204 || statusCode === 304 ? null : answer.payload
    return new Response(body, { status: statusCode, headers: answer.headers as never })
  }
}
