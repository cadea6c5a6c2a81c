import type { FastifyInstance } from 'fastify'

const pollIntervalMs = 50

/**
 * Returns a function that shuts the server down. It closes all connections when all responses in progress have
 * finished, or after `timeoutMs`. This includes connections on which no request has been sent, for which Node would
 * otherwise wait a minute.
 */
export function createDrain(app: FastifyInstance, timeoutMs: number): () => Promise<void> {
  let underWay = 0
  app.server.on('request', (_request, response) => {
    underWay += 1
    response.once('close', () => {
      underWay -= 1
    })
  })
  return async () => {
    const latest = Date.now() + timeoutMs
    const looking = setInterval(() => {
      if (underWay === 0 || Date.now() > latest) app.server.closeAllConnections()
    }, pollIntervalMs)
    await app.close()
    clearInterval(looking)
  }
}
