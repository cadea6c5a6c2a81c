import { once } from 'node:events'
import type { FastifyReply } from 'fastify'

export type EventStream = {
  /** Sends an event. Resolves when the client can receive more. */
  send(data: object): Promise<void>
  end(last?: object): void
}

/**
 * Starts a response of server-sent events, which consist only of `data:` lines. The status cannot be changed
 * afterwards.
 */
export function startEventStream(reply: FastifyReply): EventStream {
  const { raw } = reply
  reply.hijack()
  raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    'x-accel-buffering': 'no',
  })
  raw.socket?.setNoDelay(true)
  const line = (data: string) => `data: ${data}\n\n`
  return {
    async send(data) {
      if (raw.destroyed || raw.write(line(JSON.stringify(data)))) return
      await Promise.race([once(raw, 'drain'), once(raw, 'close')])
    },
    end(last) {
      if (last) raw.write(line(JSON.stringify(last)))
      raw.end(last ? undefined : line('[DONE]'))
    },
  }
}
