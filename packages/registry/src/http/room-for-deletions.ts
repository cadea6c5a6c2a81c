import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { Ballast } from '../database/ballast.ts'
import { storageFull } from '../errors.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether a write may use the reserved space, because it deletes something or is needed before a deletion. */
    mayUseLastRoom?: boolean
  }
}

const growing = new Set(['POST', 'PUT', 'PATCH'])

/**
 * Reserves the last free space on the database's disk for deletions, which must write to the database before they free
 * any space. When hardly any space is left, all other writes are refused with 503 `storage_full`.
 */
export const roomForDeletions = fp(
  async (app: FastifyInstance, { ballast }: { ballast: Ballast }) => {
    app.addHook('preHandler', ({ method, route }, _reply, done) => {
      const mayGrow = growing.has(method) && !route.config.mayUseLastRoom
      if (!mayGrow || !ballast.isNearlySpent()) return done()
      done(
        storageFull(
          "the registry's disk is full, and the remaining space is reserved for deletions: try again when space has been freed",
          0,
        ),
      )
    })
  },
)
