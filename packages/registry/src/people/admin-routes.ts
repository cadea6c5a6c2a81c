import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { endpoints } from '@shoal/protocol'
import type { FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import type { AccountRepository } from '../accounts/account-repository.ts'
import type { ApiKeyRepository } from '../accounts/api-key-repository.ts'
import { isActingAdmin } from '../accounts/caller.ts'
import type { Passwords } from '../accounts/password.ts'
import { callerActor } from '../accounts/request-actor.ts'
import type { Actor } from '../audit/actor.ts'
import { listAudit, note, user } from '../audit/audit-log.ts'
import type { Database } from '../database/schema.ts'
import { forbidden } from '../errors.ts'
import type { Site } from '../http/site.ts'
import type { ModelDeletion } from '../models/delete-model.ts'
import { createUser } from './create-user.ts'
import type { InvitationRepository } from './invitation-repository.ts'
import type { PeopleRepository } from './people-repository.ts'
import { removeUser } from './remove-user.ts'
import { resetPassword } from './reset-password.ts'

type Dependencies = ModelDeletion & {
  db: Kysely<Database>
  accounts: AccountRepository
  passwords: Passwords
  keys: ApiKeyRepository
  people: PeopleRepository
  invitations: InvitationRepository
  site: Site
}

/** The routes with which administrators manage accounts and invitations, and read the audit log. */
export const adminRoutes: FastifyPluginAsyncTypebox<Dependencies> = async (app, dependencies) => {
  const { db, keys, people, invitations, site } = dependencies

  app.addHook('onSend', async (_request, reply) => {
    reply.header('cache-control', 'no-store')
  })

  app.route({
    ...endpoints.listUsers,
    async handler(request) {
      adminOf(request)
      return people.list()
    },
  })

  app.route({
    ...endpoints.createUser,
    async handler(request, reply) {
      const password = await createUser(dependencies, request.body, adminOf(request))
      const created = { user: await people.get(request.body.username), password }
      return reply.code(201).send(created)
    },
  })

  app.route({
    ...endpoints.getAdminUser,
    async handler(request) {
      adminOf(request)
      return people.get(request.params.username)
    },
  })

  app.route({
    ...endpoints.updateUser,
    config: { mayUseLastRoom: true }, // so that an account that fills the disk can be disabled
    async handler(request) {
      const actor = adminOf(request)
      const { username } = request.params
      await people.change(username, request.body, actor)
      return people.get(username)
    },
  })

  app.route({
    ...endpoints.removeUser,
    async handler(request, reply) {
      const actor = adminOf(request)
      await removeUser(dependencies, request.params.username, request.query, actor)
      return reply.code(204).send(null)
    },
  })

  app.route({
    ...endpoints.resetPassword,
    async handler(request) {
      const actor = adminOf(request)
      return resetPassword(dependencies, request.params.username, actor)
    },
  })

  app.route({
    ...endpoints.listUserKeys,
    async handler(request) {
      adminOf(request)
      return keys.list((await people.get(request.params.username)).id)
    },
  })

  app.route({
    ...endpoints.revokeUserKey,
    async handler(request, reply) {
      const actor = adminOf(request)
      const { id: accountId, username } = await people.get(request.params.username)
      const { id } = request.params
      await keys.delete(accountId, id, note(actor, 'key.revoked', user(username), { id }))
      return reply.code(204).send(null)
    },
  })

  app.route({
    ...endpoints.listInvitations,
    async handler(request) {
      adminOf(request)
      return invitations.list()
    },
  })

  app.route({
    ...endpoints.createInvitation,
    async handler(request, reply) {
      const created = await invitations.create(request.body, adminOf(request))
      return reply.code(201).send({ ...created, url: invitationUrl(site.baseUrl(), created.token) })
    },
  })

  app.route({
    ...endpoints.revokeInvitation,
    async handler(request, reply) {
      await invitations.revoke(request.params.id, adminOf(request))
      return reply.code(204).send(null)
    },
  })

  app.route({
    ...endpoints.listAudit,
    async handler(request) {
      adminOf(request)
      return listAudit(db, request.query)
    },
  })
}

/**
 * Returns the URL of the page on which an invitation is accepted. The secret is in the fragment, which is not sent to
 * any server.
 */
export const invitationUrl = (baseUrl: string, token: string): string =>
  `${baseUrl}/register#invitation=${token}`

/** Returns the caller. Throws unless the caller is an administrator and the credential has the scope `admin`. */
function adminOf(request: FastifyRequest): Actor {
  const caller = request.signedIn()
  if (!isActingAdmin(caller)) {
    throw forbidden(
      caller.isAdmin
        ? 'this API key does not have the scope "admin"'
        : 'only administrators can do this',
    )
  }
  return callerActor(request, caller)
}
