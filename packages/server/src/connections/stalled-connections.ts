import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Log } from '@shoal/log'
import { Counter, type Registry } from 'prom-client'
import { readUnsentBytes, type UnsentBytes } from './unsent-bytes.ts'

type Options = {
  /** How long a client may read nothing of a response before its connection is closed. */
  readerMs: number
  /** How long a client may send nothing of a request body that continues after the response. */
  senderMs: number
  log: Pick<Log, 'debug' | 'error'>
  metrics: Registry
}

type Watched = {
  last: { request: IncomingMessage; response: ServerResponse } | undefined
  /** The last values of the connection's counters in each direction, and the times when they last changed. */
  sent: string
  sentAt: number
  receivedBytes: number
  receivedAt: number
}

/** Number of times that each connection is checked within the shorter of the two limits. */
const checksPerLimit = 4
/**
 * Factor by which `readerMs` is multiplied if the operating system does not report how much each client has received. A
 * slow client may then appear to receive nothing for minutes.
 */
const blindFactor = 10

/**
 * Closes the connections of clients that have stopped reading a response, or that have stopped sending a request body
 * after the response. (A different timeout, with status 408, applies to a body that arrives before the response.) Slow
 * connections are kept while TCP shows progress. However, a receiving system reopens its TCP window only when a
 * sixteenth of its buffer is free. A program that reads less than about 30 kB/s from a buffer of 32 MB (the maximum on
 * Linux) therefore appears to accept nothing for a minute, and has to request the rest again.
 */
export function endStalledConnections(server: Server, options: Options) {
  const { readerMs, senderMs, log, metrics } = options
  const watched = new Map<Socket, Watched>()
  const stalled = new Counter({
    name: 'shoal_http_stalled_connections_total',
    help: 'Connections closed because the client received or sent nothing for too long',
    labelNames: ['side'],
    registers: [metrics],
  })

  server.on('connection', (socket: Socket) => {
    const now = performance.now()
    watched.set(socket, {
      last: undefined,
      sent: '',
      sentAt: now,
      receivedBytes: 0,
      receivedAt: now,
    })
    socket.once('close', () => watched.delete(socket))
  })
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const found = watched.get(request.socket)
    if (found) found.last = { request, response }
  })

  function end(socket: Socket, side: 'reader' | 'sender', ms: number) {
    stalled.inc({ side })
    log.debug({ ip: socket.remoteAddress, side, ms }, 'a stalled connection was closed')
    socket.destroy()
  }

  function checkReader(socket: Socket, seen: Watched, unsentBytes: UnsentBytes | undefined) {
    const now = performance.now()
    const sent = `${socket.bytesWritten} ${socket.writableLength} ${unsentBytes?.(socket)}`
    if (socket.writableLength === 0 || sent !== seen.sent) {
      seen.sent = sent
      seen.sentAt = now
      return
    }
    const limitMs = unsentBytes ? readerMs : readerMs * blindFactor
    if (now - seen.sentAt >= limitMs) end(socket, 'reader', limitMs)
  }

  function checkSender(socket: Socket, seen: Watched) {
    const now = performance.now()
    const isSending = seen.last?.response.writableEnded && !seen.last.request.complete
    if (!isSending || socket.bytesRead !== seen.receivedBytes) {
      seen.receivedBytes = socket.bytesRead
      seen.receivedAt = now
      return
    }
    if (now - seen.receivedAt >= senderMs) end(socket, 'sender', senderMs)
  }

  async function poll() {
    const isAnyoneWaiting = [...watched.keys()].some(({ writableLength }) => writableLength > 0)
    const unsentBytes = isAnyoneWaiting ? await readUnsentBytes() : undefined
    for (const [socket, seen] of watched) {
      checkReader(socket, seen, unsentBytes)
      checkSender(socket, seen)
    }
  }

  let isPolling = false
  const timer = setInterval(() => {
    if (isPolling) return
    isPolling = true
    poll()
      .catch((error) => log.error({ err: error }, 'could not check for stalled connections'))
      .finally(() => {
        isPolling = false
      })
  }, Math.min(readerMs, senderMs) / checksPerLimit)
  timer.unref()
  server.once('close', () => clearInterval(timer))
}
