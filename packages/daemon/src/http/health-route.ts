import type { FastifyPluginAsync } from 'fastify'
import type { DaemonConfig } from '../config.ts'
import { computeProof } from './proof.ts'

const maxNonceLength = 100

/** Reports that the daemon is running. If the request has a nonce, the response also proves the daemon's identity. */
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
