/** The endpoints of llama.cpp's server that some clients look for. `server-info/` has `/health` and `/props`. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ApplyTemplateRequest, DetokenizeRequest, TokenizeRequest } from '@shoal/protocol'
import type { DaemonConfig } from '../config.ts'
import { clientGone } from '../http/client-gone.ts'
import type { LoadedModels } from '../models/loaded-models.ts'
import { getOnlyModel } from '../models/only-model.ts'
import { getForm } from '../openai/answer-form.ts'
import { createChat } from '../openai/generation.ts'

type Dependencies = { config: DaemonConfig; models: LoadedModels }

export const llamaServerRoutes: FastifyPluginAsyncTypebox<Dependencies> = async (
  app,
  { config, models },
) => {
  const nameOf = (model: string | null | undefined) => model || getOnlyModel(models)

  app.post('/tokenize', { schema: { body: TokenizeRequest } }, async ({ body }, reply) => {
    const model = nameOf(body.model)
    using use = await models.use(model, { signal: clientGone(reply) })
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

  app.post('/detokenize', { schema: { body: DetokenizeRequest } }, async ({ body }, reply) => {
    const model = nameOf(body.model)
    using use = await models.use(model, { signal: clientGone(reply) })
    const bytes = await use.runtime.tokenBytes(body.tokens)
    return { model, content: Buffer.from(bytes.flat()).toString() }
  })

  app.post(
    '/apply-template',
    { schema: { body: ApplyTemplateRequest } },
    async ({ body }, reply) => {
      const model = nameOf(body.model)
      const request = { ...body, model }
      const chat = { chat: createChat(request, config), form: getForm(request) }
      using use = await models.use(model, { signal: clientGone(reply) })
      return { model, prompt: await use.runtime.applyTemplate(chat) }
    },
  )
}

/** Returns the text of a token, or its bytes if they are only a part of a character, as llama.cpp's server does. */
function toPiece(bytes: number[]): string | number[] {
  const text = Buffer.from(bytes).toString()
  return Buffer.from(text).equals(Buffer.from(bytes)) ? text : bytes
}
