import { AppError } from '@shoal/core/errors'
import type { FastifyReply } from 'fastify'

/** Returns a signal that aborts if the client disconnects before the response is complete. */
export function clientGone({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  raw.once('close', () => {
    if (!raw.writableFinished)
      gone.abort(new AppError('client_gone', 'the client disconnected', {}))
  })
  return gone.signal
}
