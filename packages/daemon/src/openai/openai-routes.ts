/** The part of OpenAI's API that concerns models on this machine. */
import type { FastifyPluginAsync } from 'fastify'
import type { DaemonConfig } from '../config.ts'
import type { LoadedModels } from '../models/loaded-models.ts'
import type { LocalModels } from '../models/local-models.ts'
import { chatRoutes } from './chat-routes.ts'
import { completionRoutes } from './completion-routes.ts'
import { embeddingRoutes } from './embedding-routes.ts'
import { modelRoutes } from './model-routes.ts'

type Dependencies = { config: DaemonConfig; models: LoadedModels; local: LocalModels }

export const openaiRoutes: FastifyPluginAsync<Dependencies> = async (app, dependencies) => {
  await app.register(chatRoutes, dependencies)
  await app.register(completionRoutes, dependencies)
  await app.register(embeddingRoutes, dependencies)
  await app.register(modelRoutes, dependencies)
}
