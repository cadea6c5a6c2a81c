import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Clock } from '@shoal/core/async'
import { endpoints, type Usage } from '@shoal/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { note, user } from '../audit/audit-log.ts'
import { clientNetwork, clientSite } from '../http/client-network.ts'
import type { Site } from '../http/site.ts'
import { type Account, type AccountRepository, toUser } from './account-repository.ts'
import { callerWithSession } from './caller.ts'
import { changePassword } from './change-password.ts'
import type { CredentialGuard } from './credential-guard.ts'
import type { NetworkRepository } from './network-repository.ts'
import type { Passwords } from './password.ts'
import { register } from './register.ts'
import { callerActor, newActor } from './request-actor.ts'
import { clearSessionCookie, setSessionCookie } from './session-cookie.ts'
import type { SessionRepository } from './session-repository.ts'
import { signIn } from './sign-in.ts'
import { signInDelays } from './sign-in-delays.ts'

type Dependencies = {
  accounts: AccountRepository
  sessions: SessionRepository
  networks: NetworkRepository
  passwords: Passwords
  guard: CredentialGuard
  site: Site
  isRegistrationOpen: boolean
  /** The secret required to create the first account, if this registry requires one. */
  setupCode: string | undefined
  clock: Clock
  people: { findUsage(accountId: string): Promise<Usage> }
}

export const accountRoutes: FastifyPluginAsyncTypebox<Dependencies> = async (app, dependencies) => {
  const { accounts, sessions, networks, guard, site, isRegistrationOpen, clock, people } =
    dependencies
  const delays = signInDelays(clock)

  async function startSession(account: Account, request: FastifyRequest, reply: FastifyReply) {
    const { username } = account
    const actor = newActor(request, username, 'password')
    const session = await sessions.create(account, request.headers['user-agent'] ?? null, {
      note: note(actor, 'account.signed_in', user(username)),
    })
    guard.noteGood(session.token)
    setSessionCookie(site, request, reply, session)
    return session
  }

  app.route({
    ...endpoints.getRegistry,
    config: { isOpen: true },
    handler: async () => ({
      registration_open: isRegistrationOpen || (await accounts.isFirstMissing()),
    }),
  })

  app.route({
    ...endpoints.register,
    config: { rateLimitClass: 'auth', isOpen: true },
    async handler(request, reply) {
      const { username } = request.body
      const account = await register(dependencies, request.body, {
        isFromThisMachine: request.isFromThisMachine(),
        note: ({ is_admin }, invitationId) => {
          const credential = invitationId === undefined ? 'password' : `invitation ${invitationId}`
          const role = is_admin === 1 ? 'admin' : 'user'
          const actor = newActor(request, username, credential)
          return note(actor, 'account.created', user(username), { role })
        },
      })
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
      const account = await signIn({ ...dependencies, delays }, request.body, origin)
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
      const caller = callerWithSession(request.caller)
      const { accountId, username, credential } = caller
      const signedOut = note(callerActor(request, caller), 'account.signed_out', user(username))
      await sessions.delete(accountId, credential.id, signedOut)
      clearSessionCookie(reply)
      return reply.code(204).send(null)
    },
  })

  app.route({
    ...endpoints.getMe,
    async handler(request) {
      const caller = request.signedIn()
      const account = await accounts.get(caller.accountId)
      return {
        ...toUser(account),
        role: account.is_admin === 1 ? ('admin' as const) : ('user' as const),
        usage: await people.findUsage(account.id),
      }
    },
  })

  app.route({
    ...endpoints.changePassword,
    config: { rateLimitClass: 'auth' },
    async handler(request, reply) {
      const caller = callerWithSession(request.caller)
      await changePassword(
        { ...dependencies, delays },
        caller,
        request.body,
        note(callerActor(request, caller), 'account.password_changed', user(caller.username)),
      )
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
      const caller = callerWithSession(request.caller)
      const { id } = request.params
      await sessions.delete(
        caller.accountId,
        id,
        note(callerActor(request, caller), 'account.session_ended', user(caller.username), { id }),
      )
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
