import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ModelsQuery } from '@shoal/protocol'
import Type from 'typebox'
import type { DaemonConfig } from '../config.ts'
import { modelNotFound } from '../errors.ts'
import type { LoadedModels } from '../models/loaded-models.ts'
import type { LocalModel, LocalModels } from '../models/local-models.ts'

type Dependencies = { config: DaemonConfig; models: LoadedModels; local: LocalModels }

export const modelRoutes: FastifyPluginAsyncTypebox<Dependencies> = async (
  app,
  { config: { listsAllModels }, models, local },
) => {
  app.get('/v1/models', { schema: { querystring: ModelsQuery } }, async ({ query }) => {
    const loaded = (await models.list()).map(({ model }) => model)
    const hasAll = query.all === undefined ? listsAllModels : query.all === 'true'
    const others = hasAll ? await local.list() : []
    const byId = new Map([...loaded, ...others].map((model) => [model.id, model]))
    return { object: 'list', data: Array.from(byId.values(), modelObject) }
  })

  const schema = { params: Type.Object({ '*': Type.String() }) }
  app.get('/v1/models/*', { schema }, async ({ params }) => {
    const model = await local.find(params['*'])
    if (model) return modelObject(model)
    throw modelNotFound(params['*'])
  })
}

function modelObject({ id, modifiedAt }: LocalModel) {
  const created = Math.floor(modifiedAt.getTime() / 1000)
  return { id, object: 'model', created, owned_by: 'local' }
}
