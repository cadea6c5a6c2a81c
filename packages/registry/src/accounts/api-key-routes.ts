import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { endpoints } from '@shoal/protocol'
import { forbidden, unprocessable } from '../errors.ts'
import type { ApiKeyRepository } from './api-key-repository.ts'
import { callerWithSession } from './caller.ts'
import type { CredentialGuard } from './credential-guard.ts'

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
        throw forbidden('only an admin can create a key with the scope "admin"')
      }
      if (expires_at !== null && Date.parse(expires_at) <= Date.now()) {
        throw unprocessable('expires_at is in the past', {
          errors: [{ path: '/expires_at', message: 'must be in the future' }],
        })
      }
      const expiresAt = expires_at && new Date(expires_at).toISOString()
      const key = await keys.create(caller, { name, scopes, expiresAt })
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
    async handler({ caller, params }, reply) {
      await keys.delete(callerWithSession(caller).accountId, params.id)
      return reply.code(204).send(null)
    },
  })
}
