import type { FastifyRequest } from 'fastify'

/** Fields of the request log in addition to those of every server. */
export const logFields = ({ ip, caller }: FastifyRequest) => ({
  ip,
  ...(caller && { user: caller.username }),
})
