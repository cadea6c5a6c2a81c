import { plainAddress } from '@shoal/core/addresses'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify'
import type { Registry } from 'prom-client'
import { invalid, isDomainError, unavailable } from '../errors.ts'
import { findUpgrade, takeUpgrade } from '../http/upgrades.ts'
import type { NodeMessages } from '../redis/node-messages.ts'
import type { AnnounceEvent } from './announce/announce.ts'
import { failureAnswer, scrapeAnswer } from './announce/http-answers.ts'
import { ownAddress } from './announce/own-address.ts'
import { readQuery } from './announce/raw-query.ts'
import { readHttpAnnounce } from './announce/read-http-announce.ts'
import { readHttpScrape } from './announce/read-http-scrape.ts'
import { type Announcer, type TrackerDependencies, tracker } from './announce/tracker.ts'
import { trackerMetrics } from './announce/tracker-metrics.ts'
import { trackerSockets } from './websocket/tracker-sockets.ts'

type Dependencies = Omit<TrackerDependencies, 'own' | 'metrics'> & {
  baseUrl: () => string
  /** Sends messages to the sockets of other nodes; undefined if this is the only node. */
  messages: NodeMessages | undefined
  /** Whether a proxy is trusted. Behind a proxy, clients cannot connect to the local address of a connection. */
  trustProxy: boolean
  metrics: Registry
}

type TrackerRequest = FastifyRequest<{ Params: { token?: string } }>

const options: RouteShorthandOptions = {
  exposeHeadRoute: false,
  schema: { hide: true },
  config: { isOpen: true, isQuiet: true, hasRawQuery: true, rateLimitClass: 'tracker' },
}

/** The tracker's routes: HTTP for BitTorrent clients and WebSocket for browsers, on the same paths. */
export async function trackerRoutes(app: FastifyInstance, dependencies: Dependencies) {
  const { swarms, baseUrl, trustProxy, intervalSeconds } = dependencies
  const own = ownAddress({ baseUrl, log: app.log })
  const metrics = trackerMetrics(dependencies.metrics, swarms)
  const http = tracker({ ...dependencies, own, metrics })
  const sockets = trackerSockets({ ...dependencies, tracker: http, metrics, log: app.log })
  app.addHook('preClose', sockets.close)

  for (const path of ['/announce', '/announce/:token']) {
    app.get(path, options, async (request: TrackerRequest, reply) => {
      if (findUpgrade(request)) return openSocket(request, reply)
      let event: AnnounceEvent | 'none' = 'none'
      return answer(reply, {
        async run() {
          refusePages(request)
          const announce = readHttpAnnounce(readQuery(request.url))
          event = announce.event
          return http.announce(announce, toAnnouncer(request))
        },
        count: (outcome) => metrics.announces.inc({ protocol: 'http', event, outcome }),
      })
    })
  }

  for (const path of ['/scrape', '/scrape/:token']) {
    app.get(path, options, async (request: TrackerRequest, reply) => {
      if (findUpgrade(request)) return openSocket(request, reply)
      return answer(reply, {
        async run() {
          const infoHashes = readHttpScrape(readQuery(request.url))
          return scrapeAnswer(await http.scrape(infoHashes, request.params.token), intervalSeconds)
        },
        count: (outcome) => metrics.scrapes.inc({ protocol: 'http', outcome }),
      })
    })
  }

  function toAnnouncer({ ip, socket, params }: TrackerRequest): Announcer {
    const reachedAt = trustProxy ? undefined : plainAddress(socket.localAddress)
    return { address: parseAddress(ip), reachedAt, token: params.token }
  }

  async function openSocket(request: TrackerRequest, reply: FastifyReply) {
    const address = parseAddress(request.ip)
    const giveBack = sockets.takePlace(address)
    if (!giveBack) {
      metrics.refused.inc({ limit: 'sockets' })
      throw unavailable('too many WebSockets are open', { retryAfterSeconds: 60 })
    }
    const upgrade = takeUpgrade(request, reply)
    upgrade.socket.once('close', giveBack)
    sockets.accept(request.raw, upgrade, { address, token: request.params.token })
    return reply
  }
}

/**
 * Sends the response to a tracker request. A refusal is sent in the protocol's format with status 200, because clients
 * then show its reason to their users.
 */
async function answer(
  reply: FastifyReply,
  { run, count }: { run(): Promise<Buffer>; count(outcome: 'answered' | 'refused'): void },
) {
  reply.type('text/plain').header('cache-control', 'no-store')
  try {
    const bytes = await run()
    count('answered')
    return reply.send(bytes)
  } catch (error) {
    if (!isDomainError(error)) throw error
    count('refused')
    return reply.send(failureAnswer(error.message))
  }
}

/**
 * Refuses announces that web pages send over HTTP. A page cannot listen on a port, so such an announce would only make
 * other peers connect to the computer of the page's visitor.
 */
function refusePages({ headers }: FastifyRequest) {
  if (headers.origin !== undefined || headers['sec-fetch-site'] !== undefined) {
    throw invalid('browsers must announce over WebSocket')
  }
}

function parseAddress(ip: string): string {
  const address = plainAddress(ip)
  if (address === undefined) throw invalid("the client's address cannot be determined")
  return address
}
