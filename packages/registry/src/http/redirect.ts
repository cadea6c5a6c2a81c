import type { FastifyReply } from 'fastify'

/** A temporary redirect: the URL expires. */
export function redirect(reply: FastifyReply, url: string) {
  return reply.code(302).header('location', url).header('cache-control', 'no-store').send('')
}
