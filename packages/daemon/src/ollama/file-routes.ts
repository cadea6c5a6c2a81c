import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { OllamaCopyRequest, OllamaDeleteRequest } from '@shoal/protocol'
import { copyModel } from '../models/copy-model.ts'
import type { LoadedModels } from '../models/loaded-models.ts'
import type { LocalModels } from '../models/local-models.ts'
import { removeModel } from '../models/remove-model.ts'
import { namedModel } from './named-model.ts'

type Dependencies = { models: LoadedModels; local: LocalModels }

export const fileRoutes: FastifyPluginAsyncTypebox<Dependencies> = async (app, dependencies) => {
  app.delete('/api/delete', { schema: { body: OllamaDeleteRequest } }, async ({ body }, reply) => {
    await removeModel(dependencies, namedModel(body))
    return reply.send()
  })

  app.post('/api/copy', { schema: { body: OllamaCopyRequest } }, async ({ body }, reply) => {
    await copyModel(dependencies.local, body.source, body.destination)
    return reply.send()
  })
}
