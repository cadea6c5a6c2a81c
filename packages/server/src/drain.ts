import type { FastifyInstance } from 'fastify'

const pollIntervalMs = 50

/**
 * Makes what ends a server: answers that are under way may finish, for at most so long. Connections without a request are cut
 * off then, also those that never had one: Node would wait a minute for it.
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
