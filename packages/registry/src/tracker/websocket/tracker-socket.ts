import { once } from 'node:events'
import { tokenBucket } from '@shoal/core/limits'
import type { Log } from '@shoal/log'
import type { WebSocket } from 'ws'
import { isDomainError } from '../../errors.ts'
import { toBinaryString } from '../announce/announce.ts'
import type { TrackerMetrics } from '../announce/tracker-metrics.ts'
import { readSocketMessage, type SocketMessage } from './socket-message.ts'
import type { SocketSession } from './socket-session.ts'

type Options = {
  session: SocketSession
  messages: Parameters<typeof tokenBucket>[0]
  send(message: object): void
  metrics: TrackerMetrics
  log: SocketLog
}

export type SocketLog = Pick<Log, 'debug' | 'error'>

const closeTimeoutMs = 1_000
const maxFailedPolls = 1

/** Serves one tracker WebSocket until it closes. */
export function trackerSocket(socket: WebSocket, options: Options) {
  const { session, send, metrics, log } = options
  const messages = tokenBucket(options.messages)
  let isAlive = true
  let failedPolls = 0
  let waiting = 0
  let work = Promise.resolve()

  socket.on('message', (data) => {
    if (socket.readyState !== socket.OPEN) return
    if (!messages.take()) return hangUp(socket, 1008, 'too many messages')
    isAlive = true
    failedPolls = 0
    waiting += 1
    socket.pause() // so that messages are processed one at a time, and further messages are not read into memory
    work = work.then(async () => {
      const reply = await answer(String(data))
      if (reply) send(reply)
      waiting -= 1
      if (waiting === 0) socket.resume()
    })
  })
  socket.on('pong', () => {
    isAlive = true
  })
  socket.on('error', (error) => log.debug({ err: error }, 'a tracker WebSocket failed'))
  const ended = once(socket, 'close')
    .then(() => work)
    .then(session.end)
    .catch(noteError)

  async function answer(text: string): Promise<object | undefined> {
    let message: SocketMessage | undefined
    try {
      message = readSocketMessage(text)
      const reply = await session.answer(message)
      count(message, 'answered')
      return reply
    } catch (error) {
      count(message, 'refused')
      return { ...getSubject(message), 'failure reason': toReason(error) }
    }
  }

  function count(message: SocketMessage | undefined, outcome: 'answered' | 'refused') {
    const protocol = 'websocket'
    if (message?.action === 'scrape') return metrics.scrapes.inc({ protocol, outcome })
    const event = message?.answer ? 'answer' : (message?.announce.event ?? 'none')
    metrics.announces.inc({ protocol, event, outcome })
  }

  function toReason(error: unknown): string {
    if (isDomainError(error)) return error.message
    noteError(error)
    return 'the registry cannot answer right now'
  }

  function terminateUnlessAlive() {
    if (!isAlive) socket.terminate()
  }

  function noteError(error: unknown) {
    log.error({ err: error }, 'a tracker WebSocket could not be served')
  }

  return {
    /** Resolves once the socket is closed and has left its swarms. */
    ended,

    /** Closes the socket if it is not in use or does not respond. Must be called regularly. */
    poll() {
      if (!isAlive) return void setImmediate(terminateUnlessAlive) // reads first what has arrived
      if (!session.hasAnnounced()) failedPolls += 1
      if (failedPolls > maxFailedPolls)
        return hangUp(socket, 1000, 'no torrent has been announced on this socket')
      isAlive = false
      socket.ping()
    },
  }
}

/** Sends the reason and closes the socket, waiting at most one second for the client to close it too. */
function hangUp(socket: WebSocket, code: number, reason: string) {
  socket.close(code, reason)
  setTimeout(() => socket.terminate(), closeTimeoutMs).unref()
}

/**
 * Returns the fields that identify the request to which a response belongs, so that a client with many torrents can
 * match responses to its requests.
 */
function getSubject(message: SocketMessage | undefined): object {
  if (message?.action !== 'announce') return { action: message?.action ?? 'announce' }
  return { action: 'announce', info_hash: toBinaryString(message.announce.infoHash) }
}
