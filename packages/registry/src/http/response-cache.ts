import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { isKnown } from './if-none-match.ts'

type Kept = {
  version: string
  /** As bytes: a string would be encoded anew for each who asks. */
  payload: Buffer
  headers: Record<string, number | string | string[] | undefined>
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The version that the database had when a stranger's GET began. */
    databaseVersion: string | undefined
  }
  interface FastifyContextConfig {
    /** Its answers change with the swarms too, which are not in the database. */
    showsSeeders?: boolean
  }
}

type Options = { databaseVersion: () => string; seedersVersion: () => number }

const keptBytes = 32 * 1024 * 1024
const largestPayload = 1024 * 1024

/**
 * Keeps what strangers were answered, as long as nothing at all was written since: the registry's front page is asked for far
 * more often than anything changes. Only where one process sees every write (SQLite); never for anybody who is signed in.
 */
export const responseCache = fp(
  async (app: FastifyInstance, { databaseVersion, seedersVersion }: Options) => {
    const kept = new Map<string, Kept>()
    let bytes = 0

    app.decorateRequest('databaseVersion', undefined)

    app.addHook('preParsing', async (request, reply) => {
      if (request.method !== 'GET' || request.caller) return
      const { showsSeeders } = request.routeOptions.config
      const version = databaseVersion() + (showsSeeders ? ` ${seedersVersion()}` : '')
      const found = kept.get(request.url)
      if (found?.version !== version) {
        request.databaseVersion = version
        return
      }
      if (isKnown(String(found.headers.etag), request.headers['if-none-match'])) {
        return reply.code(304).headers(found.headers).removeHeader('content-type').send()
      }
      return reply.headers(found.headers).send(found.payload)
    })

    app.addHook('onSend', async (request, reply, payload) => {
      const { databaseVersion: version, url } = request
      if (version === undefined || reply.statusCode !== 200) return
      if (typeof payload !== 'string' || payload.length > largestPayload) return
      forget(url)
      const asBytes = Buffer.from(payload)
      kept.set(url, { version, payload: asBytes, headers: answerHeaders(reply.getHeaders()) })
      bytes += asBytes.length
      for (const oldest of kept.keys()) {
        if (bytes <= keptBytes) break
        forget(oldest)
      }
    })

    function forget(url: string) {
      bytes -= kept.get(url)?.payload.length ?? 0
      kept.delete(url)
    }
  },
)

/** What belongs to the answer, not to the call that happened to be first. */
const answerHeaderNames = [
  'content-type',
  'cache-control',
  'vary',
  'etag',
  'link',
  'x-total-count',
  'x-total-count-exact',
]

function answerHeaders(headers: Kept['headers']): Kept['headers'] {
  const entries = answerHeaderNames.map((name) => [name, headers[name]] as const)
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}
