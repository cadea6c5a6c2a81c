import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Counter, type Registry } from 'prom-client'
import { readUnsentBytes, type UnsentBytes } from './unsent-bytes.ts'

type Options = {
  /** A reader that takes nothing of an answer for so long is disconnected. */
  readerMs: number
  /** So is a sender of a body that nobody needs any more. */
  senderMs: number
  log: {
    debug(details: object, message: string): void
    error(details: object, message: string): void
  }
  metrics: Registry
}

type Watched = {
  last: { request: IncomingMessage; response: ServerResponse } | undefined
  /** What was seen when either side last moved, and when that was. */
  sent: string
  sentAt: number
  receivedBytes: number
  receivedAt: number
}

/** Looks at every connection several times in the shorter of the limits. */
const checksPerLimit = 4
/** Where the system does not tell what a reader has taken, a slow one may seem to take nothing for minutes. */
const blindFactor = 10

/**
 * Ends connections whose other side has stopped: it takes nothing of an answer, or sends nothing of a body after the answer.
 * (Bodies before the answer have limits of their own, which answer 408.) Slow connections stay, as far as TCP shows that they
 * move: a receiving system opens its window again when a sixteenth of its buffer is free, so that a program which reads less
 * than some 30 kB/s out of a buffer of 32 MB (the most on Linux) takes nothing for a minute. It has to ask for the rest.
 */
export function endStalledConnections(server: Server, options: Options) {
  const { readerMs, senderMs, log, metrics } = options
  const watched = new Map<Socket, Watched>()
  const stalled = new Counter({
    name: 'shoal_http_stalled_connections_total',
    help: 'Connections ended because the other side took or sent nothing for too long',
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
    log.debug({ ip: socket.remoteAddress, side, ms }, 'a stalled connection was ended')
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
      .catch((error) => log.error({ err: error }, 'could not look for stalled connections'))
      .finally(() => {
        isPolling = false
      })
  }, Math.min(readerMs, senderMs) / checksPerLimit)
  timer.unref()
  server.once('close', () => clearInterval(timer))
}
