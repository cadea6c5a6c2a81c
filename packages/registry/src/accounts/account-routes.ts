import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { endpoints } from '@shoal/protocol'
import { clearSessionCookie, setSessionCookie } from '../http/session-cookie.ts'
import type { Site } from '../http/site.ts'
import { type AccountRepository, toUser } from './account-repository.ts'
import { callerWithSession } from './caller.ts'
import { changePassword } from './change-password.ts'
import { register } from './register.ts'
import type { SessionRepository } from './session-repository.ts'
import { signIn } from './sign-in.ts'

type Dependencies = {
  accounts: AccountRepository
  sessions: SessionRepository
  site: Site
  isRegistrationOpen: boolean
  /** What the first account has to show, where one is asked for. */
  setupCode: string | undefined
}

export const accountRoutes: FastifyPluginAsyncTypebox<Dependencies> = async (app, dependencies) => {
  const { accounts, sessions, site } = dependencies

  app.route({
    ...endpoints.register,
    config: { rateLimitClass: 'auth', isOpen: true },
    async handler(request, reply) {
      const account = await register(dependencies, request.body)
      const session = await sessions.create(account.id, request.headers['user-agent'] ?? null)
      setSessionCookie(site, request, reply, session)
      return reply.code(201).send({
        access_token: session.token,
        token_type: 'bearer',
        expires_at: session.expiresAt,
        user: toUser(account),
      })
    },
  })

  app.route({
    ...endpoints.login,
    config: { rateLimitClass: 'auth', isOpen: true },
    async handler(request, reply) {
      const account = await signIn(accounts, request.body)
      const session = await sessions.create(account.id, request.headers['user-agent'] ?? null)
      setSessionCookie(site, request, reply, session)
      return {
        access_token: session.token,
        token_type: 'bearer' as const,
        expires_at: session.expiresAt,
        user: toUser(account),
      }
    },
  })

  app.route({
    ...endpoints.logout,
    async handler(request, reply) {
      const { accountId, credential } = callerWithSession(request.caller)
      await sessions.delete(accountId, credential.id)
      clearSessionCookie(reply)
      return reply.code(204).send(null)
    },
  })

  app.route({
    ...endpoints.getMe,
    async handler(request) {
      const caller = request.signedIn()
      return toUser(await accounts.get(caller.accountId))
    },
  })

  app.route({
    ...endpoints.changePassword,
    config: { rateLimitClass: 'auth' },
    async handler(request, reply) {
      await changePassword(accounts, callerWithSession(request.caller), request.body)
      return reply.code(204).send(null)
    },
  })

  app.route({
    ...endpoints.listSessions,
    handler(request) {
      const { accountId, credential } = callerWithSession(request.caller)
      return sessions.list(accountId, credential.id)
    },
  })

  app.route({
    ...endpoints.deleteSession,
    async handler(request, reply) {
      await sessions.delete(callerWithSession(request.caller).accountId, request.params.id)
      return reply.code(204).send(null)
    },
  })

  app.route({
    ...endpoints.getUser,
    handler({ caller, params }) {
      const username = params.username.toLowerCase()
      const isSelf = caller?.username === username && caller.credential.scopes.includes('read')
      return accounts.getProfile(username, isSelf)
    },
  })
}
