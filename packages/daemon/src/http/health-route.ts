import type { FastifyPluginAsync } from 'fastify'
import type { DaemonConfig } from '../config.ts'
import { computeProof } from './proof.ts'

const maxNonceLength = 100

/** Reports that the daemon is running. If the request has a nonce, the response also proves the daemon's identity. */
export const healthRoute: FastifyPluginAsync<DaemonConfig> = async (app, { proofToken }) => {
  const config = { isOpen: true, isQuiet: true }
  app.get('/health', { config }, async () => ({ status: 'ok' })) // for clients of llama.cpp's server

  app.get<{ Querystring: { nonce?: unknown } }>(
    '/healthz',
    { config },
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
