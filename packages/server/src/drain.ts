import type { FastifyInstance } from 'fastify'

const pollIntervalMs = 50

/**
 * Returns a function that shuts the server down. Responses in progress may finish within `atMostMs`; then all
 * connections are closed. That includes connections that never sent a request, for which Node would wait a minute.
 */
export function createDrain(app: FastifyInstance, atMostMs: number): () => Promise<void> {
  let underWay = 0
  app.server.on('request', (_request, response) => {
    underWay += 1
    response.once('close', () => {
      underWay -= 1
    })
  })
  return async () => {
    const latest = Date.now() + atMostMs
    const looking = setInterval(() => {
      if (underWay === 0 || Date.now() > latest) app.server.closeAllConnections()
    }, pollIntervalMs)
    await app.close()
    clearInterval(looking)
  }
}
