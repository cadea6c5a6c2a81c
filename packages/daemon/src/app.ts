/** The map of the daemon. */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, { type FastifyBaseLogger, LogController } from 'fastify'
import type { DaemonConfig } from './config.ts'
import { handleError, handleNotFound } from './http/error-handler.ts'
import { guard } from './http/guard.ts'
import type { LoadedModels } from './models/loaded-models.ts'
import type { LocalModels } from './models/local-models.ts'
import { chatRoutes } from './openai/chat-routes.ts'
import { completionRoutes } from './openai/completion-routes.ts'
import { modelRoutes } from './openai/model-routes.ts'

export type AppDependencies = {
  config: DaemonConfig
  log: FastifyBaseLogger
  models: LoadedModels
  local: LocalModels
}

/** A long conversation with its tools is a few megabytes. */
const bodyLimit = 16 * 1024 * 1024

export async function buildApp({ config, log, models, local }: AppDependencies) {
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    routerOptions: { ignoreTrailingSlash: true },
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, strict: false } },
  }).withTypeProvider<TypeBoxTypeProvider>()
  app.setErrorHandler(handleError)
  app.setNotFoundHandler(handleNotFound)
  await app.register(guard, config)
  app.get('/healthz', async () => ({ status: 'ok' }))
  await app.register(chatRoutes, { models })
  await app.register(completionRoutes, { models })
  await app.register(modelRoutes, { models, local })
  return app
}
