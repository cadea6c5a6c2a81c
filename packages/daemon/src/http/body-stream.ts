import type { FastifyReply } from 'fastify'
import { whenDrained } from './when-drained.ts'

export type BodyStream = {
  /** Sends a part. Resolves when the client can receive more. */
  send(part: object): Promise<void>
  /** Sends a part without waiting. */
  report(part: object): void
  /** Whether the client reads more slowly than parts are written. */
  isFull(): boolean
  /** Ends the response: with `last`, which may be an error, or as the format requires. */
  end(last?: object): void
}

export type StreamFormat = {
  contentType: string
  format: (part: object) => string
  /** The text at the end of a stream without a last part. */
  ending?: string
}

const contentType = 'text/event-stream; charset=utf-8'
const formatEvent = (event: object) => `data: ${JSON.stringify(event)}\n\n`

/** Server-sent events that have only a `data:` line, as in OpenAI's older APIs. */
export const plainEvents: StreamFormat = {
  contentType,
  format: formatEvent,
  ending: 'data: [DONE]\n\n',
}

/** Server-sent events with an `event:` line that contains their `type`. */
export const namedEvents: StreamFormat = {
  contentType,
  format: (event) => ('type' in event ? `event: ${event.type}\n` : '') + formatEvent(event),
}

/** One JSON object per line. */
export const jsonLines: StreamFormat = {
  contentType: 'application/x-ndjson',
  format: (line) => `${JSON.stringify(line)}\n`,
}

/** Starts a response that is sent in parts. After this call, the HTTP status cannot be changed. */
export function startStream(
  reply: FastifyReply,
  { contentType, format, ending }: StreamFormat,
): BodyStream {
  const { raw } = reply
  reply.hijack()
  raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': contentType,
    'cache-control': 'no-cache',
    'x-accel-buffering': 'no',
  })
  raw.socket?.setNoDelay(true)
  raw.flushHeaders()
  return {
    async send(part) {
      if (raw.destroyed || raw.write(format(part))) return
      await whenDrained(raw)
    },
    report(part) {
      if (!raw.destroyed) raw.write(format(part))
    },
    isFull: () => raw.writableNeedDrain,
    end(last) {
      raw.end(last ? format(last) : ending)
    },
  }
}
