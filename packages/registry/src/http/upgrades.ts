import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** A connection that requests an upgrade to WebSocket, and the first bytes after the request. */
type Upgrade = { socket: Duplex; head: Buffer }

const upgrades = new WeakMap<IncomingMessage, Upgrade>()
const placesForSockets = /^\/(announce|scrape)([/?]|$)/

/**
 * Whether Node should treat a request as an upgrade: only WebSocket requests to the tracker. All other upgrade requests
 * are treated as normal requests, because many clients request an upgrade only to offer HTTP/2.
 */
export function asksForSocket({ url = '', headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket' && placesForSockets.test(url)
}

/**
 * Passes upgrade requests to a route, through the same hooks as other requests. The route may take over the connection.
 */
export function useUpgrades(app: FastifyInstance) {
  app.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const response = new ServerResponse(request)
    response.shouldKeepAlive = false
    response.assignSocket(socket as Parameters<typeof response.assignSocket>[0])
    response.once('finish', () => socket.end())
    socket.on('error', () => socket.destroy()) // nothing else handles errors until a route takes over the socket
    upgrades.set(request, { socket, head })
    app.routing(request, response)
  })
}

export const findUpgrade = ({ raw }: FastifyRequest): Upgrade | undefined => upgrades.get(raw)

/** Takes over the connection for a route that sends its own response. */
export function takeUpgrade(request: FastifyRequest, reply: FastifyReply): Upgrade {
  const upgrade = findUpgrade(request)
  if (!upgrade) throw new Error('this is not a request to upgrade to WebSocket')
  reply.hijack()
  reply.raw.detachSocket(upgrade.socket as Parameters<typeof reply.raw.detachSocket>[0])
  return upgrade
}
