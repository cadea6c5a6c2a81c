/** Lists local models and loaded models, shows the details of a model, and loads and unloads models. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { LoadRequest, OllamaShowRequest, UnloadRequest } from '@shoal/protocol'
import { modelNotFound } from '../errors.ts'
import { clientGone } from '../http/client-gone.ts'
import { toKeepAliveMs } from '../models/keep-alive.ts'
import type { LoadedModels } from '../models/loaded-models.ts'
import type { LocalModels } from '../models/local-models.ts'
import { listedModel, loadedEntry } from './model-entry.ts'
import { namedModel } from './named-model.ts'
import { shownInFull, shownModel } from './show-model.ts'

type Dependencies = { models: LoadedModels; local: LocalModels }

export const modelRoutes: FastifyPluginAsyncTypebox<Dependencies> = async (
  app,
  { models, local },
) => {
  app.get('/api/tags', async () => {
    const all = await local.list()
    return {
      models: all
        .toSorted((a, b) => b.modifiedAt.getTime() - a.modifiedAt.getTime())
        .map(listedModel),
    }
  })

  app.get('/api/ps', async () => ({ models: (await models.list()).map(loadedEntry) }))

  app.post('/api/show', { schema: { body: OllamaShowRequest } }, async ({ body }) => {
    const name = namedModel(body)
    const model = await local.find(name)
    if (!model) throw modelNotFound(name)
    const show = body.verbose ? shownInFull : shownModel
    return show(model, models.getContextLength(model))
  })

  app.post('/api/load', { schema: { body: LoadRequest } }, async ({ body }, reply) => {
    const keepAliveMs = toKeepAliveMs(body.keep_alive)
    const contextLength = body.num_ctx ?? undefined
    const options = { keepAliveMs, contextLength, signal: clientGone(reply) }
    return loadedEntry(await models.load(body.model, options))
  })

  app.post('/api/unload', { schema: { body: UnloadRequest } }, async ({ body: { model } }) => ({
    model,
    unloaded: await models.unload(model),
  }))
}
