import type { FastifyPluginAsync } from 'fastify'
import type { DaemonConfig } from '../config.ts'
import { computeProof } from './proof.ts'

const maxNonceLength = 100

/** Says that the daemon is there and, to those who ask with a nonce, proves which one it is. */
export const healthRoute: FastifyPluginAsync<DaemonConfig> = async (app, { proofToken }) => {
  app.get<{ Querystring: { nonce?: unknown } }>(
    '/healthz',
    { config: { isOpen: true, isQuiet: true } },
    async ({ query: { nonce }, socket: { localAddress: address, localPort: port } }) => ({
      status: 'ok',
      pid: process.pid,
      ...(proofToken !== undefined &&
        typeof nonce === 'string' &&
        nonce.length <= maxNonceLength && {
          proof: computeProof(proofToken, nonce, { address, port }),
        }),
    }),
  )
}
