/** The daemon's routes and plugins. */

import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { makeApp, refuseDeepBodies } from '@shoal/server'
import type { Sharing } from '@shoal/transfer'
import type { ChatSite } from '@shoal/web'
import type { FastifyBaseLogger } from 'fastify'
import { messagesRoutes } from './anthropic/messages-routes.ts'
import { pageRoutes } from './chat-page/page-routes.ts'
import type { DaemonConfig } from './config.ts'
import { Fault } from './errors.ts'
import { takeJsonAlone } from './http/body-types.ts'
import { decompressBodies } from './http/compressed-bodies.ts'
import { handleError, handleNotFound, toErrorBody } from './http/error-handler.ts'
import { guard } from './http/guard.ts'
import { type Metrics, metricsRoute } from './http/metrics.ts'
import { presets } from './http/presets.ts'
import { infillRoutes } from './llama-server/infill-routes.ts'
import { llamaServerRoutes } from './llama-server/llama-server-routes.ts'
import { rankRoutes } from './llama-server/rank-routes.ts'
import type { LoadedModels } from './models/loaded-models.ts'
import type { LocalModels } from './models/local-models.ts'
import { ollamaRoutes } from './ollama/ollama-routes.ts'
import { openaiRoutes } from './openai/openai-routes.ts'
import type { KnownRegistries } from './pulls/known-registries.ts'
import type { ModelPulls } from './pulls/pull-model.ts'
import { registryRoutes } from './registries/registry-routes.ts'
import { responseRoutes } from './responses/response-routes.ts'
import { serverInfoRoutes } from './server-info/server-info-routes.ts'
import { sharingRoutes } from './sharing/sharing-routes.ts'

export type AppDependencies = {
  config: DaemonConfig
  log: FastifyBaseLogger
  metrics: Metrics
  models: LoadedModels
  local: LocalModels
  registries: KnownRegistries
  pulls: ModelPulls
  sharing: Sharing | undefined
  /** The chat page; undefined if the page has not been built. */
  chat: ChatSite | undefined
}

/** The maximum size of a request body in bytes. A long conversation with tools is a few megabytes. */
const bodyLimit = 16 * 1024 * 1024
/** The entire request must arrive within this time. No genuine request takes longer. */
const requestTimeoutMs = 5 * 60_000

export async function buildApp(dependencies: AppDependencies) {
  const { config, log, metrics, models, chat } = dependencies
  const app = makeApp({
    log,
    metrics,
    handleError,
    makeBody: (status, message) => toErrorBody(new Fault(status, message)),
    timeoutMessage: 'the request took too long to arrive',
    fastify: {
      bodyLimit,
      requestTimeout: requestTimeoutMs,
      ajv: { customOptions: { coerceTypes: false, removeAdditional: false, strict: false } },
    },
  }).withTypeProvider<TypeBoxTypeProvider>()
  app.setNotFoundHandler(handleNotFound)
  takeJsonAlone(app)
  await app.register(guard, config)
  decompressBodies(app)
  refuseDeepBodies(app, (message) => new Fault(400, message))
  await app.register(metricsRoute, { metrics, models })
  await app.register(presets, { models })
  await app.register(serverInfoRoutes, dependencies)
  await app.register(pageRoutes, { chat, registry: config.registry?.address })
  await app.register(openaiRoutes, dependencies)
  await app.register(messagesRoutes, dependencies)
  await app.register(responseRoutes, dependencies)
  await app.register(llamaServerRoutes, dependencies)
  await app.register(infillRoutes, dependencies)
  await app.register(rankRoutes, dependencies)
  await app.register(sharingRoutes, dependencies)
  await app.register(registryRoutes, dependencies)
  await app.register(ollamaRoutes, dependencies)
  return app
}
