import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { isReservedName } from '@shoal/core/references'
import { endpoints, formatPath, type ModelQuery, routes } from '@shoal/protocol'
import { callerWith, isActingAdmin, toViewer } from '../accounts/caller.ts'
import { callerActor } from '../accounts/request-actor.ts'
import { note } from '../audit/audit-log.ts'
import type { Connection } from '../database/connect.ts'
import { unprocessable } from '../errors.ts'
import { pageLinks } from '../http/page-links.ts'
import type { QueryTurns } from '../http/query-turns.ts'
import type { Site } from '../http/site.ts'
import { deleteModel, type ModelDeletion } from './delete-model.ts'
import type { LikeRepository } from './like-repository.ts'
import { isQuickList, type ModelList } from './model-list.ts'
import { isUuid } from './model-repository.ts'
import type { ModelTotals } from './model-totals.ts'
import { mayChange, ownModel } from './own-model.ts'

type Dependencies = ModelDeletion & {
  likes: LikeRepository
  list: ModelList
  totals: ModelTotals
  site: Site
  turns: QueryTurns
  connection: Pick<Connection, 'untilNoticed'>
}

export const modelRoutes: FastifyPluginAsyncTypebox<Dependencies> = async (
  app,
  { models, likes, list, totals, collect, site, turns, connection },
) => {
  app.route({
    ...endpoints.listModels,
    config: { isCompressible: true },
    async handler(request, reply) {
      const { query, caller, routeOptions } = request
      const find = () => list.list(query as ModelQuery, toViewer(caller, 'read'))
      const isQuick = isQuickList(query as ModelQuery)
      const page = isQuick ? await find() : await turns.run(request, reply, find)
      reply.header('x-total-count', page.total)
      if (!page.isTotalExact) reply.header('x-total-count-exact', 'false')
      const links = pageLinks(`${site.baseUrl()}${routeOptions.url}`, query, page)
      if (links) reply.header('link', links)
      return page.models
    },
  })

  app.route({
    ...endpoints.createModel,
    async handler({ body, caller }, reply) {
      const { username } = callerWith('write', caller)
      checkName(body.name)
      const model = await models.create(username, body)
      reply.code(201).header('location', formatPath(routes.getModel.url, { id: model.name }))
      const details = await models.getDetails(model, toViewer(caller, 'write'))
      return { ...details, can_write: true }
    },
  })

  app.route({
    ...endpoints.getModel,
    config: { isCompressible: true },
    async handler({ params, caller }) {
      const viewer = toViewer(caller, 'read')
      const model = await models.getRow(params.id, viewer)
      return { ...(await models.getDetails(model, viewer)), can_write: mayChange(model, caller) }
    },
  })

  app.route({
    ...endpoints.updateModel,
    async handler(request, reply) {
      const { params, body } = request
      const caller = request.signedIn()
      const model = await ownModel(models, params.id, caller)
      if (body.name !== undefined) checkName(body.name)
      const changed = await models.update(model.id, body, callerActor(request, caller))
      if (model.is_public === 1 && changed.is_public === 0) await connection.untilNoticed()
      const isReadable = changed.is_public === 1 || caller.credential.scopes.includes('read')
      if (!isReadable && !isActingAdmin(caller)) return reply.code(204).send(null)
      const details = await models.getDetails(changed, toViewer(caller, 'read'))
      return { ...details, can_write: true }
    },
  })

  app.route({
    ...endpoints.deleteModel,
    async handler(request, reply) {
      const { params, query } = request
      const model = await ownModel(models, params.id, request.caller)
      const actor = callerActor(request, request.signedIn())
      const deleted = note(actor, 'model.deleted', { kind: 'model', name: model.name })
      if (query.only_if_empty) await models.deleteEmpty(model.id, deleted)
      else await deleteModel({ models, collect }, model.id, deleted)
      return reply.code(204).send(null)
    },
  })

  app.route({
    ...endpoints.toggleLike,
    async handler({ params, caller }, reply) {
      const { accountId } = callerWith('write', caller)
      const model = await models.getRowToChange(params.id, toViewer(caller, 'write'))
      await likes.toggle(model.id, accountId)
      return reply.code(204).send(null)
    },
  })

  app.route({
    ...endpoints.setLike,
    async handler({ params, body, caller }, reply) {
      const { accountId } = callerWith('write', caller)
      const model = await models.getRowToChange(params.id, toViewer(caller, 'write'))
      await likes.set(model.id, accountId, body.liked)
      return reply.code(204).send(null)
    },
  })

  app.route({
    ...endpoints.getFacets,
    config: { isCompressible: true },
    handler: (request, reply) =>
      turns.run(request, reply, () =>
        totals.facets(request.query, toViewer(request.caller, 'read')),
      ),
  })

  app.route({ ...endpoints.getStats, handler: () => totals.stats() })
}

function checkName(name: string) {
  const isReserved = name === 'chunks' || isReservedName(name)
  if (!isUuid(name) && !isReserved) return
  const message = isReserved ? 'is reserved' : 'must not look like an ID'
  throw unprocessable(`the name ${name} ${message}`, { errors: [{ path: '/name', message }] })
}
