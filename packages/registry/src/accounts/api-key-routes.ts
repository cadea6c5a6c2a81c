import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { endpoints } from '@shoal/protocol'
import { note, user } from '../audit/audit-log.ts'
import { forbidden, unprocessable } from '../errors.ts'
import type { ApiKeyRepository } from './api-key-repository.ts'
import { callerWithSession } from './caller.ts'
import type { CredentialGuard } from './credential-guard.ts'
import { callerActor } from './request-actor.ts'

type Dependencies = { keys: ApiKeyRepository; guard: CredentialGuard }

export const apiKeyRoutes: FastifyPluginAsyncTypebox<Dependencies> = async (
  app,
  { keys, guard },
) => {
  app.route({
    ...endpoints.createApiKey,
    async handler(request, reply) {
      const caller = callerWithSession(request.caller)
      const { name, scopes = ['read', 'write'], expires_at = null } = request.body
      if (scopes.includes('admin') && !caller.isAdmin) {
        throw forbidden('only an administrator can create a key with the scope "admin"')
      }
      if (expires_at !== null && Date.parse(expires_at) <= Date.now()) {
        throw unprocessable('expires_at is in the past', {
          errors: [{ path: '/expires_at', message: 'must be in the future' }],
        })
      }
      const expiresAt = expires_at && new Date(expires_at).toISOString()
      const actor = callerActor(request, caller)
      const key = await keys.create(caller, { name, scopes, expiresAt }, (id) =>
        note(actor, 'key.created', user(caller.username), { id, name, scopes }),
      )
      guard.noteGood(key.key)
      return reply.code(201).send(key)
    },
  })

  app.route({
    ...endpoints.listApiKeys,
    handler: ({ caller }) => keys.list(callerWithSession(caller).accountId),
  })

  app.route({
    ...endpoints.deleteApiKey,
    async handler(request, reply) {
      const caller = callerWithSession(request.caller)
      const { id } = request.params
      const revoked = note(callerActor(request, caller), 'key.revoked', user(caller.username), {
        id,
      })
      await keys.delete(caller.accountId, id, revoked)
      return reply.code(204).send(null)
    },
  })
}
