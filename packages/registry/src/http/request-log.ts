import type { FastifyRequest } from 'fastify'

/** Fields of the request log in addition to those that every server logs. */
export const logFields = ({ ip, caller }: Pick<FastifyRequest, 'ip' | 'caller'>) => ({
  ip,
  ...(caller && { user: caller.username }),
})
