/** The part of Ollama's API that concerns models on this machine. */
import type { FastifyPluginAsync } from 'fastify'
import type { DaemonConfig } from '../config.ts'
import { takeAnyTypeForJson } from '../http/body-types.ts'
import type { LoadedModels } from '../models/loaded-models.ts'
import type { LocalModels } from '../models/local-models.ts'
import { openUploads } from '../models/uploads.ts'
import type { ModelPulls } from '../pulls/pull-model.ts'
import { blobRoutes } from './blob-routes.ts'
import { chatRoutes } from './chat-routes.ts'
import { createRoutes } from './create-routes.ts'
import { embedRoutes } from './embed-routes.ts'
import { fileRoutes } from './file-routes.ts'
import { generateRoutes } from './generate-routes.ts'
import { modelRoutes } from './model-routes.ts'
import { pullRoutes } from './pull-routes.ts'

type Dependencies = {
  config: DaemonConfig
  models: LoadedModels
  local: LocalModels
  pulls: ModelPulls
}

export const ollamaRoutes: FastifyPluginAsync<Dependencies> = async (app, dependencies) => {
  takeAnyTypeForJson(app)
  await app.register(modelRoutes, dependencies)
  await app.register(chatRoutes, dependencies)
  await app.register(generateRoutes, dependencies)
  await app.register(embedRoutes, dependencies)
  await app.register(pullRoutes, dependencies)
  await app.register(fileRoutes, dependencies)
  const uploads = openUploads(dependencies.local)
  await app.register(createRoutes, { ...dependencies, uploads })
  await app.register(blobRoutes, { uploads })
}
