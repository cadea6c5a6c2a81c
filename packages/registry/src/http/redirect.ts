import type { FastifyReply } from 'fastify'

/** Not forever: what it leads to expires. */
export function redirect(reply: FastifyReply, url: string) {
  return reply.code(302).header('location', url).header('cache-control', 'no-store').send('')
}
