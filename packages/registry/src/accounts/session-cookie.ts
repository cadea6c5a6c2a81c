import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Site } from '../http/site.ts'

export const sessionCookie = 'shoal_session'

/**
 * Sets the session cookie if the request comes from the registry's own pages. Other clients store the token themselves.
 */
export function setSessionCookie(
  site: Site,
  request: FastifyRequest,
  reply: FastifyReply,
  session: { token: string; expiresAt: string },
) {
  if (request.headers.origin !== site.baseUrl()) return
  reply.setCookie(sessionCookie, session.token, {
    path: '/',
    httpOnly: true,
    sameSite: 'strict',
    secure: site.isSecure(),
    expires: new Date(session.expiresAt),
  })
}

export function clearSessionCookie(reply: FastifyReply) {
  reply.clearCookie(sessionCookie, { path: '/', httpOnly: true, sameSite: 'strict' })
}
