import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { Ballast } from '../database/ballast.ts'
import { storageFull } from '../errors.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A POST that deletes something, or that people need to do so. */
    mayUseLastRoom?: boolean
  }
}

const growing = new Set(['POST', 'PUT', 'PATCH'])

/**
 * Keeps the last room on the database's disk for deletions, which have to write too before they free anything: everything else
 * that writes is refused with 503 `storage_full` while there is hardly any left.
 */
export const roomForDeletions = fp(
  async (app: FastifyInstance, { ballast }: { ballast: Ballast }) => {
    app.addHook('preHandler', async ({ method, routeOptions }) => {
      if (!growing.has(method) || routeOptions.config.mayUseLastRoom) return
      if (!ballast.isNearlySpent()) return
      throw storageFull(
        "the registry's disk is full: the rest is kept for deleting; try again when there is more room",
        0,
      )
    })
  },
)
