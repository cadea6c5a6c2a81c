import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { OllamaChatRequest } from '@shoal/protocol'
import { clientGone } from '../http/client-gone.ts'
import type { LoadedModels } from '../models/loaded-models.ts'
import { type AnswerPart, emptyAnswer, type Shape, streamLines, wholeAnswer } from './answer.ts'
import {
  createOllamaChatGeneration,
  readOptions,
  refuseThinking,
  refuseUnsupported,
} from './generation.ts'
import { loadOrRelease } from './load-or-release.ts'

export const chatRoutes: FastifyPluginAsyncTypebox<{ models: LoadedModels }> = async (
  app,
  { models },
) => {
  app.post('/api/chat', { schema: { body: OllamaChatRequest } }, async ({ body }, reply) => {
    const startedAt = performance.now()
    refuseUnsupported(body)
    const shape: Shape = { model: body.model, toBody }
    if (!body.messages?.length) return emptyAnswer(shape, await loadOrRelease(models, body))
    const generation = createOllamaChatGeneration(body)
    const signal = clientGone(reply)
    using use = await models.use(body.model, readOptions(body))
    refuseThinking(body, use.model)
    const timing = { startedAt, loadMs: performance.now() - startedAt }
    const steps = use.runtime.generate(generation, signal)
    if (body.stream === false) return await wholeAnswer(steps, shape, timing)
    return await streamLines(reply, steps, shape, timing)
  })
}

const toBody = ({ text, thinking, calls, logprobs }: AnswerPart) => ({
  message: {
    role: 'assistant',
    content: text,
    ...(thinking && { thinking }),
    ...(calls.length > 0 && { tool_calls: calls }),
  },
  ...(logprobs && { logprobs }),
})
