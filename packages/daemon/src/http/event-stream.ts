import type { FastifyReply } from 'fastify'
import { whenDrained } from './when-drained.ts'

export type EventStream = {
  /** Sends an event. Resolves when the client can receive more. */
  send(data: object): Promise<void>
  end(last?: object): void
}

type Options = {
  /** Whether each event has an `event:` line with its `type`, and the stream ends without `[DONE]`. */
  areEventsNamed?: boolean
}

/**
 * Starts a response that consists of server-sent events. Unless `areEventsNamed` is set, each event has only a `data:`
 * line. After this call, the HTTP status cannot be changed.
 */
export function startEventStream(
  reply: FastifyReply,
  { areEventsNamed = false }: Options = {},
): EventStream {
  const { raw } = reply
  reply.hijack()
  raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    'x-accel-buffering': 'no',
  })
  raw.socket?.setNoDelay(true)
  raw.flushHeaders()
  const format = (event: object) => {
    const name = areEventsNamed && 'type' in event ? `event: ${event.type}\n` : ''
    return `${name}data: ${JSON.stringify(event)}\n\n`
  }
  return {
    async send(data) {
      if (raw.destroyed || raw.write(format(data))) return
      await whenDrained(raw)
    },
    end(last) {
      if (last) raw.write(format(last))
      raw.end(last || areEventsNamed ? undefined : 'data: [DONE]\n\n')
    },
  }
}
