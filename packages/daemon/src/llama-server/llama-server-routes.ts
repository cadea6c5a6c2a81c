/** The endpoints of llama.cpp's server that some clients look for. */
import { basename } from 'node:path'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import {
  ApplyTemplateRequest,
  DetokenizeRequest,
  PropsQuery,
  TokenizeRequest,
} from '@shoal/protocol'
import { Fault, modelNotFound } from '../errors.ts'
import { samplingDefaults } from '../http/sampling.ts'
import type { LoadedModels } from '../models/loaded-models.ts'
import type { LocalModels } from '../models/local-models.ts'
import { createChat, getJsonFormat } from '../openai/generation.ts'
import { toPiece } from './piece.ts'
import { specialTokensOf } from './special-tokens.ts'

type Dependencies = {
  models: LoadedModels
  local: LocalModels
  /** The maximum number of concurrent conversations of a model. */
  config: { slots: number }
}

export const llamaServerRoutes: FastifyPluginAsyncTypebox<Dependencies> = async (
  app,
  { models, local, config },
) => {
  const specialTokens = specialTokensOf()

  /**
   * Returns the ID of the requested model or, if the request specifies none, of the only loaded model. Clients of
   * llama.cpp's server need not specify a model, because that server has only one.
   */
  function nameOf(model: string | null | undefined): string {
    if (model) return model
    const [only, ...others] = models.status()
    if (only && others.length === 0) return only.model.id
    const why = only ? 'several models are loaded' : 'no model is loaded'
    throw new Fault(400, `model is required, because ${why}`, { param: 'model' })
  }

  // This route only reads files, because a GET request must not load a model.
  app.get('/props', { schema: { querystring: PropsQuery } }, async ({ query }) => {
    const id = nameOf(query.model)
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
      total_slots: config.slots,
      model_alias: model.id,
      model_path: basename(model.path),
      modalities: { vision: false, audio: false },
      chat_template: model.facts.chat_template ?? '',
      ...(await specialTokens(model)),
      build_info: 'shoal',
    }
  })

  app.post('/tokenize', { schema: { body: TokenizeRequest } }, async ({ body }) => {
    const model = nameOf(body.model)
    using use = await models.use(model)
    const tokens = await use.runtime.tokenize({
      text: body.content,
      addSpecial: body.add_special ?? false,
      parseSpecial: body.parse_special ?? true,
    })
    if (!body.with_pieces) return { model, tokens }
    const pieces = await use.runtime.tokenBytes(tokens)
    return {
      model,
      tokens: tokens.map((id, index) => ({ id, piece: toPiece(pieces[index] ?? []) })),
    }
  })

  app.post('/detokenize', { schema: { body: DetokenizeRequest } }, async ({ body }) => {
    const model = nameOf(body.model)
    using use = await models.use(model)
    const bytes = await use.runtime.tokenBytes(body.tokens)
    return { model, content: Buffer.from(bytes.flat()).toString() }
  })

  app.post('/apply-template', { schema: { body: ApplyTemplateRequest } }, async ({ body }) => {
    const model = nameOf(body.model)
    const request = { ...body, model }
    const chat = { chat: createChat(request), json: getJsonFormat(request) }
    using use = await models.use(model)
    return { model, prompt: await use.runtime.applyTemplate(chat) }
  })
}
