import type { FastifyReply } from 'fastify'
import { toOllamaErrorBody, toStreamFault } from '../http/error-handler.ts'
import { whenDrained } from '../http/when-drained.ts'

export type LineStream = {
  /** Sends a line. Resolves when the client can receive more. */
  send(line: object): Promise<void>
  /** Sends a line without waiting. */
  report(line: object): void
  /** Whether the client reads more slowly than lines are written. */
  isFull(): boolean
  end(last?: object): void
  /** Ends the stream with an error line. */
  fail(error: unknown): void
}

/** Starts a response that has one JSON object per line. After this call, the HTTP status cannot be changed. */
export function startLineStream(reply: FastifyReply): LineStream {
  const { raw } = reply
  reply.hijack()
  raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': 'application/x-ndjson',
    'cache-control': 'no-cache',
    'x-accel-buffering': 'no',
  })
  raw.socket?.setNoDelay(true)
  raw.flushHeaders()
  const formatLine = (line: object) => `${JSON.stringify(line)}\n`
  return {
    async send(line) {
      if (raw.destroyed || raw.write(formatLine(line))) return
      await whenDrained(raw)
    },
    report(line) {
      if (!raw.destroyed) raw.write(formatLine(line))
    },
    isFull: () => raw.writableNeedDrain,
    end(last) {
      raw.end(last && formatLine(last))
    },
    fail(error) {
      raw.end(formatLine(toOllamaErrorBody(toStreamFault(error, reply.request))))
    },
  }
}
