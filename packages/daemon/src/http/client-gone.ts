import { AppError } from '@shoal/core/errors'
import type { FastifyReply } from 'fastify'

/** Fires when the client has left before it had its answer. */
export function clientGone({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  raw.once('close', () => {
    if (!raw.writableFinished) gone.abort(new AppError('client_gone', 'the client went away', {}))
  })
  return gone.signal
}
