import type { FastifyReply } from 'fastify'

/** Nobody waits for the answer any more. */
export class ClientGoneError extends Error {
  override name = 'ClientGoneError'
}

/** Fires when the client has left before it had its answer. */
export function clientGone({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  raw.once('close', () => {
    if (!raw.writableFinished) gone.abort(new ClientGoneError('the client went away'))
  })
  return gone.signal
}
