import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { Ballast } from '../database/ballast.ts'
import { storageFull } from '../errors.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set on a POST that deletes something, or that is needed in order to delete. */
    mayUseLastRoom?: boolean
  }
}

const growing = new Set(['POST', 'PUT', 'PATCH'])

/**
 * Reserves the last space on the database's disk for deletions, which must write before they free
 * anything. When hardly any is left, all other writes are refused with 503 `storage_full`.
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
