import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { LRUCache } from 'lru-cache'
import { Gauge, type Registry } from 'prom-client'
import { isKnown } from './if-none-match.ts'

type Headers = Record<string, number | string | string[] | undefined>
type Entry = {
  version: string
  /** Bytes, because a string would be encoded again for every caller. */
  payload: Buffer
  headers: Headers
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The key and version under which the response to this request may be cached; undefined if it may not. */
    cacheable: { key: string; version: string; databaseVersion: string } | undefined
  }
  interface FastifyContextConfig {
    /** Its responses also depend on the swarms, which are not in the database. */
    showsSeeders?: boolean
  }
}

type Options = {
  databaseVersion: () => string
  seedersVersion: () => number
  metrics: Registry
}

export const maxCacheBytes = 32 * 1024 * 1024
/** Bounds the bookkeeping of many small responses. */
export const maxCacheEntries = 4_000
const maxPayloadBytes = 1024 * 1024
/** Longer queries are hardly ever repeated. */
const maxKeyLength = 1_000
/** The size of an entry without its key, headers and payload: the objects, and the slots in the cache's lists. */
const bytesPerEntry = 1_000

/**
 * Caches the responses to anonymous GET requests until the next write to the database. Requests share a response if
 * they have the same route, path parameters and query parameters of the route's schema; other parameters are ignored.
 * Only for a database that a single process writes to (SQLite), and never for signed-in callers.
 */
export const responseCache = fp(
  async (app: FastifyInstance, { databaseVersion, seedersVersion, metrics }: Options) => {
    const cache = new LRUCache<string, Entry>({
      max: maxCacheEntries,
      maxSize: maxCacheBytes,
      sizeCalculation: computeSize,
    })
    let cachedVersion = ''
    reportSize(cache, metrics)

    app.decorateRequest('cacheable', undefined)

    // After validation, which keeps only known parameters, coerced and with defaults.
    app.addHook('preHandler', async (request, reply) => {
      if (request.method !== 'GET' || request.caller) return
      const current = databaseVersion()
      if (current !== cachedVersion) {
        cache.clear() // all entries are stale
        cachedVersion = current
      }
      const key = makeKey(request)
      if (key.length > maxKeyLength) return
      const { showsSeeders } = request.routeOptions.config
      const version = current + (showsSeeders ? ` ${seedersVersion()}` : '')
      const found = cache.get(key)
      if (found?.version !== version) {
        cache.delete(key)
        request.cacheable = { key, version, databaseVersion: current }
        return
      }
      if (isKnown(String(found.headers.etag), request.headers['if-none-match'])) {
        return reply.code(304).headers(found.headers).removeHeader('content-type').send()
      }
      return reply.headers(found.headers).send(found.payload)
    })

    app.addHook('onSend', async ({ cacheable }, reply, payload) => {
      if (!cacheable || reply.statusCode !== 200) return
      if (typeof payload !== 'string' || payload.length > maxPayloadBytes) return
      if (cacheable.databaseVersion !== cachedVersion) return // already stale
      const { key, version } = cacheable
      const headers = answerHeaders(reply.getHeaders())
      cache.set(key, { version, payload: Buffer.from(payload), headers })
    })
  },
)

/** The route and its parameters, in a fixed order. */
function makeKey({ routeOptions, params, query }: FastifyRequest): string {
  const known = routeOptions.schema?.querystring ? Object.entries(query as object) : []
  known.sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify([routeOptions.url, params, known])
}

/** Bytes that an entry takes in memory; JavaScript may use two per character. */
function computeSize({ version, payload, headers }: Entry, key: string): number {
  const texts = [key, version, ...Object.values(headers).map(String)]
  const characters = texts.reduce((sum, { length }) => sum + length, 0)
  return payload.byteLength + 2 * characters + bytesPerEntry
}

/** Headers of the response itself, not of the request that happened to be the first. */
const answerHeaderNames = [
  'content-type',
  'cache-control',
  'vary',
  'etag',
  'link',
  'x-total-count',
  'x-total-count-exact',
]

function answerHeaders(headers: Headers): Headers {
  const entries = answerHeaderNames.map((name) => [name, headers[name]] as const)
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

function reportSize(cache: LRUCache<string, Entry>, metrics: Registry) {
  new Gauge({
    name: 'shoal_response_cache_bytes',
    help: `Upper bound of the memory used by cached responses ${maxCacheBytes}`,
    registers: [metrics],
    collect() {
      this.set(cache.calculatedSize)
    },
  })
  new Gauge({
    name: 'shoal_response_cache_entries',
    help: `Upper bound of the number of cached responses ${maxCacheEntries}`,
    registers: [metrics],
    collect() {
      this.set(cache.size)
    },
  })
}
