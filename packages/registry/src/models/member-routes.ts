import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { endpoints } from '@shoal/protocol'
import { callerWith, isActingAdmin, toViewer } from '../accounts/caller.ts'
import { callerActor } from '../accounts/request-actor.ts'
import { forbidden } from '../errors.ts'
import type { MemberRepository } from './member-repository.ts'
import type { ModelRepository } from './model-repository.ts'
import { managedModel } from './own-model.ts'

type Dependencies = { models: ModelRepository; members: MemberRepository }

export const memberRoutes: FastifyPluginAsyncTypebox<Dependencies> = async (
  app,
  { models, members },
) => {
  app.route({
    ...endpoints.listMembers,
    async handler({ params, caller }) {
      const who = callerWith('read', caller)
      const model = await models.getRow(params.id, toViewer(caller, 'read'))
      const isMember = typeof model.member_can_write === 'number'
      if (model.owner !== who.username && !isMember && !isActingAdmin(who)) {
        throw forbidden(
          `only ${model.owner}, members and administrators can list the members of ${model.name}`,
        )
      }
      return members.list(model.id)
    },
  })

  app.route({
    ...endpoints.setMember,
    async handler(request) {
      const { params, body, caller } = request
      const model = await managedModel(models, params.id, caller)
      return members.set(
        model,
        params.username,
        body.right,
        callerActor(request, request.signedIn()),
      )
    },
  })

  app.route({
    ...endpoints.removeMember,
    async handler(request, reply) {
      const { params } = request
      const caller = callerWith('write', request.caller)
      const isSelf = params.username.toLowerCase() === caller.username
      const model = isSelf
        ? await models.getRowToChange(params.id, toViewer(caller, 'write'))
        : await managedModel(models, params.id, caller)
      await members.remove(model, params.username, callerActor(request, caller))
      return reply.code(204).send(null)
    },
  })

  app.route({
    ...endpoints.transferModel,
    async handler(request, reply) {
      const { params, body, caller } = request
      const who = callerWith('write', caller)
      // Otherwise, the owner could fill another account's quota, or publish in its name.
      if (!isActingAdmin(who))
        throw forbidden('only administrators can change the owner of a model')
      const model = await models.getRowToChange(params.id, toViewer(caller, 'write'))
      await members.transfer(model, body.username, callerActor(request, who))
      return reply.code(204).send(null)
    },
  })
}
