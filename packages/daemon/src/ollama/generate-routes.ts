import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { OllamaGenerateRequest } from '@shoal/protocol'
import { clientGone } from '../http/client-gone.ts'
import { requireGaps } from '../http/gaps.ts'
import type { LoadedModels } from '../models/loaded-models.ts'
import { type AnswerPart, emptyAnswer, type Shape, streamLines, wholeAnswer } from './answer.ts'
import {
  createOllamaPromptGeneration,
  readOptions,
  refuseThinking,
  refuseUnsupported,
} from './generation.ts'
import { loadOrRelease } from './load-or-release.ts'

export const generateRoutes: FastifyPluginAsyncTypebox<{ models: LoadedModels }> = async (
  app,
  { models },
) => {
  const schema = { body: OllamaGenerateRequest }
  app.post('/api/generate', { schema }, async ({ body }, reply) => {
    const startedAt = performance.now()
    refuseUnsupported(body)
    const shape: Shape = { model: body.model, toBody }
    if (!body.prompt) return emptyAnswer(shape, await loadOrRelease(models, body))
    const signal = clientGone(reply)
    using use = await models.use(body.model, readOptions(body))
    refuseThinking(body, use.model)
    if (body.suffix) requireGaps(use.runtime, 'suffix')
    const timing = { startedAt, loadMs: performance.now() - startedAt }
    const steps = use.runtime.generate(createOllamaPromptGeneration(body, use.model), signal)
    if (body.stream === false) return await wholeAnswer(steps, shape, timing)
    return await streamLines(reply, steps, shape, timing)
  })
}

const toBody = ({ text, thinking, logprobs }: AnswerPart) => ({
  response: text,
  ...(thinking && { thinking }),
  ...(logprobs && { logprobs }),
})
