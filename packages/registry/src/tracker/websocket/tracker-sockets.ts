/**
 * WebSockets for browsers. Browsers connect to each other through WebRTC, and need the tracker to relay their offers
 * and answers.
 */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type Clock, systemClock } from '@shoal/core/async'
import { connectionSlots } from '@shoal/server/connections'
import { type WebSocket, WebSocketServer } from 'ws'
import type { NodeMessages } from '../../redis/node-messages.ts'
import { type SessionDependencies, socketSession } from './socket-session.ts'
import { type SocketLog, trackerSocket } from './tracker-socket.ts'

type Dependencies = Omit<SessionDependencies, 'relay'> & {
  /** Sends messages to the sockets of other nodes; undefined if this is the only node. */
  messages: NodeMessages | undefined
  log: SocketLog
  limits?: Partial<typeof defaultLimits>
  clock?: Clock
}

/** A message to a socket of another node. */
type Relayed = { channel: string; message: object }

type From = { address: string; token: string | undefined }

const defaultLimits = {
  /** Maximum number of sockets. Each takes a few KB of memory, both in the process and in the operating system. */
  sockets: 4_000,
  /** Maximum number of sockets per network. It is high, because all clients at a university may share one address. */
  socketsPerNetwork: 250,
  /** Maximum size of a message. Ten offers take 10 to 50 KB. */
  messageBytes: 128 * 1024,
  /**
   * Rate limit of a socket. It allows a large burst, because a client with many torrents announces all of them as soon
   * as it connects.
   */
  messages: { atOnce: 500, perSecond: 20 },
  /** Maximum amount of unsent data per socket. Above it, the socket is closed, because its client is not reading. */
  unsentBytes: 1024 * 1024,
  pollIntervalMs: 60_000,
}

export interface TrackerSockets {
  /**
   * Reserves a place for a socket from this address. Returns the function that releases the place, or undefined if no
   * place is left.
   */
  takePlace(address: string): (() => void) | undefined
  /** Upgrades a request to a WebSocket, and serves the WebSocket until it closes. */
  accept(request: IncomingMessage, upgrade: { socket: Duplex; head: Buffer }, from: From): void
  /** Closes all sockets immediately. Resolves once they have left their swarms. */
  close(): Promise<void>
}

export function trackerSockets(dependencies: Dependencies): TrackerSockets {
  const { messages, metrics, log, clock = systemClock } = dependencies
  const limits = { ...defaultLimits, ...dependencies.limits }
  const channels = new Map<string, { socket: WebSocket; poll(): void }>()
  const leaving = new Set<Promise<void>>()
  const slots = connectionSlots({
    maxConnections: limits.sockets,
    maxPerNetwork: limits.socketsPerNetwork,
  })
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: limits.messageBytes,
  })
  let cancelPoll = clock.after(limits.pollIntervalMs, pollAll)

  function pollAll() {
    cancelPoll = clock.after(limits.pollIntervalMs, pollAll)
    for (const { poll } of channels.values()) poll()
  }

  function relay(channel: string, message: object) {
    const [nodeId = ''] = channel.split('/')
    if (messages && nodeId !== messages.nodeId) {
      messages.send(nodeId, JSON.stringify({ channel, message } satisfies Relayed))
    } else deliver(channel, message)
  }

  function deliver(channel: string, message: object) {
    const socket = channels.get(channel)?.socket
    if (socket) send(socket, message)
  }

  messages?.listen((text) => {
    try {
      const { channel, message } = JSON.parse(text) as Relayed
      deliver(channel, message)
    } catch (error) {
      log.error({ err: error }, 'another node has sent a message that cannot be read')
    }
  })

  function send(socket: WebSocket, message: object) {
    if (socket.bufferedAmount > limits.unsentBytes) socket.terminate()
    else if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(message))
  }

  function serve(socket: WebSocket, from: From) {
    const channel = messages ? `${messages.nodeId}/${randomUUID()}` : randomUUID()
    const { poll, ended } = trackerSocket(socket, {
      session: socketSession({ ...dependencies, relay }, { channel, ...from }),
      messages: limits.messages,
      send: (message) => send(socket, message),
      metrics,
      log,
    })
    channels.set(channel, { socket, poll })
    leaving.add(ended)
    ended.finally(() => leaving.delete(ended))
    metrics.sockets.inc()
    socket.on('close', () => {
      channels.delete(channel)
      metrics.sockets.dec()
    })
  }

  return {
    takePlace: (address) => slots.take(address),

    accept(request, { socket, head }, from) {
      server.handleUpgrade(request, socket, head, (accepted) => serve(accepted, from))
    },

    async close() {
      cancelPoll()
      for (const { socket } of channels.values()) socket.terminate()
      await Promise.all(leaving)
    },
  }
}
