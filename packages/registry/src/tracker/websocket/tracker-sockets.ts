/** The WebSockets of browsers, which connect to each other by WebRTC and need the tracker to introduce them. */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { connectionSlots } from '../../http/connection-slots.ts'
import { type SessionDependencies, socketSession } from './socket-session.ts'
import { type SocketLog, trackerSocket } from './tracker-socket.ts'

type Dependencies = Omit<SessionDependencies, 'relay'> & {
  log: SocketLog
  limits?: Partial<typeof defaultLimits>
}

type From = { address: string; token: string | undefined }

const defaultLimits = {
  /** Each takes a few KB, in the process and in the system. */
  sockets: 4_000,
  /** A university may have one address for everyone. */
  socketsPerNetwork: 250,
  /** Ten offers take 10 to 50 KB. */
  messageBytes: 128 * 1024,
  /** A client with many torrents announces all of them as soon as it connects. */
  messages: { atOnce: 500, perSecond: 20 },
  /** Unsent data for a client that does not read. */
  unsentBytes: 1024 * 1024,
  pollIntervalMs: 60_000,
}

export interface TrackerSockets {
  /** Reserves a place for a socket from this address. Returns the function that releases it, or undefined if none is left. */
  takePlace(address: string): (() => void) | undefined
  /** Upgrades a request to a WebSocket, and serves it until it closes. */
  accept(request: IncomingMessage, upgrade: { socket: Duplex; head: Buffer }, from: From): void
  /** Closes every socket at once. */
  close(): void
}

export function trackerSockets(dependencies: Dependencies): TrackerSockets {
  const { metrics, log } = dependencies
  const limits = { ...defaultLimits, ...dependencies.limits }
  const channels = new Map<string, { socket: WebSocket; poll(): void }>()
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
  const pollTimer = setInterval(() => {
    for (const { poll } of channels.values()) poll()
  }, limits.pollIntervalMs)
  pollTimer.unref()

  function relay(channel: string, message: object) {
    const socket = channels.get(channel)?.socket
    if (socket) send(socket, message)
  }

  function send(socket: WebSocket, message: object) {
    if (socket.bufferedAmount > limits.unsentBytes) socket.terminate()
    else if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(message))
  }

  function serve(socket: WebSocket, from: From) {
    const channel = randomUUID()
    const { poll } = trackerSocket(socket, {
      session: socketSession({ ...dependencies, relay }, { channel, ...from }),
      messages: limits.messages,
      send: (message) => send(socket, message),
      metrics,
      log,
    })
    channels.set(channel, { socket, poll })
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

    close() {
      clearInterval(pollTimer)
      for (const { socket } of channels.values()) socket.terminate()
    },
  }
}
