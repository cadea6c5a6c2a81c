import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { OllamaGenerateRequest } from '@shoal/protocol'
import type { DaemonConfig } from '../config.ts'
import { clientGone } from '../http/client-gone.ts'
import { requireGaps } from '../http/gaps.ts'
import { answerSteps } from '../http/stream-answer.ts'
import type { LoadedModels } from '../models/loaded-models.ts'
import { type AnswerPart, emptyAnswer, type Shape, streamLines, wholeAnswer } from './answer.ts'
import {
  createOllamaPromptGeneration,
  readOptions,
  refuseThinking,
  refuseUnsupported,
} from './generation.ts'
import { loadOrRelease } from './load-or-release.ts'

type Dependencies = { config: DaemonConfig; models: LoadedModels }

export const generateRoutes: FastifyPluginAsyncTypebox<Dependencies> = async (
  app,
  { config, models },
) => {
  const schema = { body: OllamaGenerateRequest }
  app.post('/api/generate', { schema }, async ({ body }, reply) => {
    const timing = { startedAt: performance.now(), loadMs: 0 }
    refuseUnsupported(body)
    const shape: Shape = { model: body.model, toBody }
    const signal = clientGone(reply)
    if (!body.prompt) return emptyAnswer(shape, await loadOrRelease(models, body, signal))
    const steps = answerSteps(
      () => models.use(body.model, readOptions(body, signal)),
      ({ runtime, model }) => {
        refuseThinking(body, model)
        if (body.suffix) requireGaps(runtime, 'suffix')
        timing.loadMs = performance.now() - timing.startedAt
        return runtime.generate(createOllamaPromptGeneration(body, model), signal)
      },
    )
    if (body.stream === false) return await wholeAnswer(steps, shape, timing)
    return await streamLines(reply, steps, { ...config, shape, timing })
  })
}

const toBody = ({ text, thinking, logprobs }: AnswerPart) => ({
  response: text,
  ...(thinking && { thinking }),
  ...(logprobs && { logprobs }),
})
