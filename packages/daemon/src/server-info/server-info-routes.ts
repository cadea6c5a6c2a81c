/** The endpoints with which clients of any API find out whether the daemon is running, and what it can do. */
import { basename } from 'node:path'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { PropsQuery } from '@shoal/protocol'
import type { DaemonConfig } from '../config.ts'
import { modelNotFound } from '../errors.ts'
import { samplingDefaults } from '../http/sampling.ts'
import type { LoadedModels } from '../models/loaded-models.ts'
import type { LocalModels } from '../models/local-models.ts'
import { getOnlyModel } from '../models/only-model.ts'
import { computeProof } from './proof.ts'
import { specialTokensOf } from './special-tokens.ts'

const maxNonceLength = 100

/**
 * The Ollama version whose API this daemon implements: the first version with the Responses API (0.13.3) and the
 * Messages API. Clients compare this version with the minimum version that they require; Codex requires 0.13.4.
 */
const version = '0.14.0'

type Dependencies = { config: DaemonConfig; models: LoadedModels; local: LocalModels }

export const serverInfoRoutes: FastifyPluginAsyncTypebox<Dependencies> = async (
  app,
  { config: { proofToken, slots }, models, local },
) => {
  const config = { isOpen: true, isQuiet: true }
  app.get('/health', { config }, async () => ({ status: 'ok' })) // for clients of llama.cpp's server

  /** If the request has a nonce, the response also proves the daemon's identity. */
  app.get<{ Querystring: { nonce?: unknown } }>(
    '/healthz',
    { config },
    async ({ query: { nonce }, socket: { localAddress: address, localPort: port } }) => ({
      status: 'ok',
      pid: process.pid,
      ...(proofToken !== undefined &&
        typeof nonce === 'string' &&
        nonce.length <= maxNonceLength && {
          proof: computeProof(proofToken, nonce, { address, port }),
        }),
    }),
  )

  app.get('/api/version', async () => ({ version })) // for clients of Ollama

  const specialTokens = specialTokensOf()

  // For clients of llama.cpp's server. Only reads files, because a GET request must not load a model.
  app.get('/props', { schema: { querystring: PropsQuery } }, async ({ query }) => {
    const id = query.model || getOnlyModel(models)
    const model = await local.find(id)
    if (!model) throw modelNotFound(id)
    return {
      model: id,
      default_generation_settings: {
        n_ctx: models.getContextLength(model),
        params: {
          temperature: samplingDefaults.temperature,
          top_k: samplingDefaults.topK,
          top_p: samplingDefaults.topP,
          min_p: samplingDefaults.minP,
          n_predict: -1,
        },
      },
      total_slots: slots,
      model_alias: model.id,
      model_path: basename(model.path),
      modalities: { vision: false, audio: false },
      chat_template: model.facts.chat_template ?? '',
      ...(await specialTokens(model)),
      build_info: 'shoal',
    }
  })
}
