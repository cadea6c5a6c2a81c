import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { endpoints } from '@shoal/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { clientNetwork, clientSite } from '../http/client-network.ts'
import type { Site } from '../http/site.ts'
import { type Account, type AccountRepository, toUser } from './account-repository.ts'
import { callerWithSession } from './caller.ts'
import { changePassword } from './change-password.ts'
import type { CredentialGuard } from './credential-guard.ts'
import type { NetworkRepository } from './network-repository.ts'
import { register } from './register.ts'
import { clearSessionCookie, setSessionCookie } from './session-cookie.ts'
import type { SessionRepository } from './session-repository.ts'
import { signIn } from './sign-in.ts'
import { signInDelays } from './sign-in-delays.ts'

type Dependencies = {
  accounts: AccountRepository
  sessions: SessionRepository
  networks: NetworkRepository
  guard: CredentialGuard
  site: Site
  isRegistrationOpen: boolean
  /** The secret required to create the first account, if this registry requires one. */
  setupCode: string | undefined
}

export const accountRoutes: FastifyPluginAsyncTypebox<Dependencies> = async (app, dependencies) => {
  const { accounts, sessions, networks, guard, site } = dependencies
  const delays = signInDelays()

  async function startSession(account: Account, request: FastifyRequest, reply: FastifyReply) {
    const session = await sessions.create(account, request.headers['user-agent'] ?? null)
    guard.noteGood(session.token)
    setSessionCookie(site, request, reply, session)
    return session
  }

  app.route({
    ...endpoints.register,
    config: { rateLimitClass: 'auth', isOpen: true },
    async handler(request, reply) {
      const account = await register(dependencies, request.body, request.isFromThisMachine())
      const session = await startSession(account, request, reply)
      await networks.note(account, clientNetwork(request))
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
    config: { rateLimitClass: 'auth', isOpen: true, mayUseLastRoom: true },
    async handler(request, reply) {
      const origin = { network: clientNetwork(request), site: clientSite(request) }
      const account = await signIn({ accounts, networks, delays }, request.body, origin)
      const session = await startSession(account, request, reply)
      await networks.note(account, origin.network)
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
    config: { mayUseLastRoom: true },
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
      const caller = callerWithSession(request.caller)
      await changePassword({ accounts, delays }, caller, request.body)
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
