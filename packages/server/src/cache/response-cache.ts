import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { LRUCache } from 'lru-cache'
import { Gauge, type Registry } from 'prom-client'
import {
  chooseEncoding,
  compress,
  type Encoding,
  encodedEtag,
  isCompressible,
  minCompressedBytes,
} from './compression.ts'

type Header = string | number | string[]

/** A response in one encoding, as it is sent. */
export type Representation = {
  /** A buffer, because a string would be encoded again for every response. */
  payload: Buffer
  etag: string | undefined
  /** Alternating names and values, the format that Node expects. */
  headers: Header[]
  /** The headers of a 304. */
  headersWithoutPayload: Header[]
}

type Entry = Representation & {
  version: string
  /** The time at which the response expires, on the clock of `performance.now()`, in milliseconds. */
  expiresAt: number
  route: FastifyRequest['route']
  status: number
  beforeCached: BeforeCached | undefined
  /** Undefined if the response is not compressed. */
  compressed: Compressed | undefined
}

/** The compressed representations of an entry, each made when it is first requested. */
type Compressed = {
  made: Partial<Record<Encoding, Representation>>
  underWay: Partial<Record<Encoding, Promise<Buffer>>>
}

/** Runs each time before a cached response is sent. If it rejects, the error is sent instead. */
type BeforeCached = () => Promise<void>

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * The key and version under which the response to this request may be cached; undefined if the response must not be
     * cached.
     */
    cacheable: { key: string; version: string; databaseVersion: string } | undefined
    /**
     * An action that must also run each time the cached response is sent, such as counting a download; undefined if
     * there is none.
     */
    beforeCached: BeforeCached | undefined
  }
  interface FastifyContextConfig {
    /** Whether the route's responses also depend on the swarms, which are not in the database. */
    showsSeeders?: boolean
    /**
     * Returns the key of a response within the route, or undefined if the response must not be cached. Needed if a
     * route's responses depend on only some of its parameters, or on something other than its parameters.
     */
    cacheKey?: (request: FastifyRequest) => string | undefined
  }
}

export type CacheLimits = {
  /** Limits the memory overhead if many small responses are cached. */
  maxEntries: number
  maxBytes: number
}

type Options = {
  /** Part of the names of the cache's metrics. */
  name: 'response' | 'presigned'
  /** Responses with these statuses are cached; default: 200. */
  statuses?: readonly number[]
  /** Default: no limit. */
  maxAgeMs?: number
  /**
   * Returns a value that changes with every write to the database, or undefined while writes may go unnoticed, for
   * example because other nodes' writes are not reported. Nothing is cached while the value is undefined. The next
   * defined value must differ from all earlier ones.
   */
  databaseVersion: () => string | undefined
  seedersVersion?: () => number | string
  /** Whether a request has no caller. Only responses to such requests are cached. */
  isAnonymous: (request: FastifyRequest) => boolean
  limits: CacheLimits
  metrics: Registry
}

export type ResponseCache = ReturnType<typeof createResponseCache>

const maxPayloadBytes = 1024 * 1024
/** Responses with longer keys are not cached, because such long queries are hardly ever repeated. */
const maxKeyLength = 1_000
/**
 * Estimated memory of an entry in addition to its key, headers and payload: its objects, and its slots in the cache's
 * lists.
 */
const bytesPerEntry = 1_000
/** Limits the remembered URLs to 4 MB. */
const maxKnownUrls = 4_000

/** Caches responses to anonymous callers until the next write to the database. */
export function createResponseCache(options: Options) {
  const { databaseVersion, seedersVersion = () => 0, statuses = [200] } = options
  const { maxAgeMs = Number.POSITIVE_INFINITY } = options
  const entries = new LRUCache<string, Entry>({
    max: options.limits.maxEntries,
    maxSize: options.limits.maxBytes,
    sizeCalculation: computeSize,
  })
  /**
   * Maps URLs, exactly as requested, to cache keys. The parameters of a known URL need not be validated and sorted
   * again.
   */
  const keysByUrl = new LRUCache<string, string>({ max: maxKnownUrls })
  let cachedVersion: string | undefined
  reportSize(entries, options)

  /**
   * Returns the version of a response that is created now. Drops all entries if the database has changed since the last
   * call.
   */
  function readVersion({ config: { showsSeeders } }: FastifyRequest['route']) {
    const current = databaseVersion()
    if (current !== cachedVersion) {
      entries.clear()
      cachedVersion = current
    }
    if (current === undefined) return undefined
    const version = showsSeeders ? `${current} ${seedersVersion()}` : current
    return { version, databaseVersion: current }
  }

  const isValid = (entry: Entry, version: string | undefined) =>
    entry.version === version && performance.now() < entry.expiresAt

  return {
    statuses,
    isAnonymous: options.isAnonymous,

    /**
     * Finds the cached response to an anonymous GET request for this URL, and its representation for this
     * `Accept-Encoding`. Returns undefined if there is no valid response, or if that representation has not been made
     * yet.
     */
    findByUrl(url: string, acceptEncoding: string | undefined) {
      const key = keysByUrl.get(url)
      const entry = key === undefined ? undefined : entries.get(key)
      if (!entry || !isValid(entry, readVersion(entry.route)?.version)) return undefined
      const encoding = entry.compressed && chooseEncoding(acceptEncoding)
      const representation = encoding ? entry.compressed?.made[encoding] : entry
      return representation && { entry, representation }
    },

    /**
     * Finds the cached response by the request's validated parameters. If there is none, marks the request as cacheable
     * if its response may be cached.
     */
    find(request: FastifyRequest): Entry | undefined {
      const { route } = request
      const key = route.config.cacheKey ? makeRouteKey(request) : makeKey(request)
      const current = readVersion(route)
      if (key === undefined || key.length > maxKeyLength || current === undefined) return undefined
      const found = entries.get(key)
      if (found && isValid(found, current.version)) {
        remember(request, key)
        useCompressed(request, key, found)
        return found
      }
      entries.delete(key)
      request.cacheable = { key, ...current }
      return undefined
    },

    keep(request: FastifyRequest, reply: FastifyReply, payload: string | Buffer) {
      const { cacheable } = request
      if (!cacheable || cacheable.databaseVersion !== cachedVersion) return // already stale
      const { key, version } = cacheable
      remember(request, key)
      const expiresAt = performance.now() + maxAgeMs
      const isLong = payload.length >= minCompressedBytes
      const entry: Entry = {
        ...{ version, expiresAt, route: request.route, status: reply.statusCode },
        beforeCached: request.beforeCached,
        compressed:
          isLong && isCompressible(request, reply) ? { made: {}, underWay: {} } : undefined,
        ...prepare(payload, reply),
      }
      entries.set(key, entry)
      useCompressed(request, key, entry)
    },
  }

  function remember({ url, route }: FastifyRequest, key: string) {
    if (!route.config.cacheKey && url.length <= maxKeyLength) keysByUrl.set(url, key)
  }

  /** Lets the request use the entry's compressed representations, each of which is created at most once. */
  function useCompressed(request: FastifyRequest, key: string, entry: Entry) {
    const { compressed, payload } = entry
    if (!compressed) return
    const { made, underWay } = compressed
    request.compressOnce = async (encoding) => {
      const known = made[encoding]
      if (known) return known.payload
      underWay[encoding] ??= compress(payload, encoding)
        .then((body) => {
          made[encoding] = prepareEncoded(entry, encoding, body)
          // The cache computes the size of an entry again only if the entry is replaced.
          if (entries.peek(key)?.compressed === compressed) entries.set(key, { ...entry })
          return body
        })
        .finally(() => delete underWay[encoding])
      return underWay[encoding]
    }
  }
}

/**
 * Answers anonymous GET requests from the cache. Requests share a response if they have the same route, path parameters
 * and query parameters, or the same `cacheKey` if the route defines one. Query parameters that are not in the route's
 * schema are ignored. Signed-in callers never get cached responses. Must be registered after `caching` and after all
 * hooks that every request must go through.
 */
export const responseCaching = fp(
  async (app: FastifyInstance, { cache }: { cache: ResponseCache }) => {
    app.decorateRequest('cacheable')
    app.decorateRequest('beforeCached')

    // This hook runs after validation, which removes unknown parameters, converts types and fills in defaults.
    app.addHook('preHandler', (request, reply, done) => {
      const found =
        request.method === 'GET' && cache.isAnonymous(request) ? cache.find(request) : undefined
      if (!found) return done()
      const send = () => {
        for (let at = 0; at < found.headers.length; at += 2) {
          reply.header(String(found.headers[at]), found.headers[at + 1])
        }
        reply.code(found.status).send(found.payload)
      }
      if (found.beforeCached) found.beforeCached().then(send, done)
      else send()
    })

    app.addHook('onSend', (request, reply, payload, done) => {
      const isWhole = typeof payload === 'string' || Buffer.isBuffer(payload)
      const isCached = isWhole && cache.statuses.includes(reply.statusCode)
      if (isCached && payload.length <= maxPayloadBytes) cache.keep(request, reply, payload)
      done()
    })
  },
)

/** Returns a key made from the route and its parameters, in a fixed order. */
function makeKey({ route, params, query }: FastifyRequest): string {
  const known = route.schema?.querystring ? Object.entries(query as object) : []
  known.sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify([route.url, params, known])
}

function makeRouteKey(request: FastifyRequest): string | undefined {
  const key = request.route.config.cacheKey?.(request)
  return key === undefined ? undefined : `${request.route.url} ${key}`
}

/** Returns the estimated memory of an entry in bytes. JavaScript may use two bytes per character. */
function computeSize(entry: Entry, key: string): number {
  const { version, headers, compressed } = entry
  const texts = [key, version, ...headers.map(String)]
  const characters = texts.reduce((sum, { length }) => sum + length, 0)
  const bodies = [entry, ...Object.values(compressed?.made ?? {})]
  const bytes = bodies.reduce((sum, { payload }) => sum + payload.byteLength, 0)
  return bytes + 2 * characters * bodies.length + bytesPerEntry
}

/**
 * The headers that are cached with a response, in addition to `content-type` and `content-length`. Others, such as the
 * request ID, are specific to one request.
 */
const answerHeaderNames = [
  'location',
  'cache-control',
  'vary',
  'etag',
  'link',
  'content-disposition',
  'x-total-count',
  'x-total-count-exact',
  'content-security-policy',
  'x-content-type-options',
  'referrer-policy',
  'cross-origin-opener-policy',
]

function prepare(text: string | Buffer, reply: FastifyReply): Representation {
  const payload = typeof text === 'string' ? Buffer.from(text) : text
  const headersWithoutPayload = answerHeaderNames.flatMap((name) => {
    const value = reply.getHeader(name)
    return value === undefined ? [] : [name, value]
  })
  const type = reply.getHeader('content-type')
  const etag = reply.getHeader('etag')
  const headers = [
    ...(type === undefined ? [] : ['content-type', type]),
    ...['content-length', payload.length, ...headersWithoutPayload],
  ]
  return {
    payload,
    etag: etag === undefined ? undefined : String(etag),
    headers,
    headersWithoutPayload,
  }
}

function prepareEncoded(
  whole: Representation,
  encoding: Encoding,
  payload: Buffer,
): Representation {
  const etag = whole.etag === undefined ? undefined : encodedEtag(whole.etag, encoding)
  const replace = (headers: Header[]) =>
    headers.map((value, at) => {
      if (headers[at - 1] === 'etag') return etag ?? value
      return headers[at - 1] === 'content-length' ? payload.length : value
    })
  return {
    payload,
    etag,
    headers: [...replace(whole.headers), 'content-encoding', encoding],
    headersWithoutPayload: replace(whole.headersWithoutPayload),
  }
}

function reportSize(cache: LRUCache<string, Entry>, { name, limits, metrics }: Options) {
  const what = name === 'response' ? 'cached responses' : 'cached responses with presigned URLs'
  new Gauge({
    name: `shoal_${name}_cache_bytes`,
    help: `Estimated memory used by ${what}, in bytes (limit: ${limits.maxBytes})`,
    registers: [metrics],
    collect() {
      this.set(cache.calculatedSize)
    },
  })
  new Gauge({
    name: `shoal_${name}_cache_entries`,
    help: `Number of ${what} (limit: ${limits.maxEntries})`,
    registers: [metrics],
    collect() {
      this.set(cache.size)
    },
  })
}
