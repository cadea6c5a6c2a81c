import type { FastifyReply } from 'fastify'

/** Sends a temporary redirect, which must not be cached because its URL expires. */
export function redirect(reply: FastifyReply, url: string) {
  return reply.code(302).header('location', url).header('cache-control', 'no-store').send('')
}
