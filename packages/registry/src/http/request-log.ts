import type { FastifyRequest } from 'fastify'

/** What the log has of each request besides what every server logs. */
export const logFields = ({ ip, caller }: FastifyRequest) => ({
  ip,
  ...(caller && { user: caller.username }),
})
