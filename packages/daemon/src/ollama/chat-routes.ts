import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { OllamaChatRequest } from '@shoal/protocol'
import type { DaemonConfig } from '../config.ts'
import { clientGone } from '../http/client-gone.ts'
import { answerSteps } from '../http/stream-answer.ts'
import type { LoadedModels } from '../models/loaded-models.ts'
import { type AnswerPart, emptyAnswer, type Shape, streamLines, wholeAnswer } from './answer.ts'
import {
  createOllamaChatGeneration,
  readOptions,
  refuseThinking,
  refuseUnsupported,
} from './generation.ts'
import { loadOrRelease } from './load-or-release.ts'

type Dependencies = { config: DaemonConfig; models: LoadedModels }

export const chatRoutes: FastifyPluginAsyncTypebox<Dependencies> = async (
  app,
  { config, models },
) => {
  app.post('/api/chat', { schema: { body: OllamaChatRequest } }, async ({ body }, reply) => {
    const timing = { startedAt: performance.now(), loadMs: 0 }
    refuseUnsupported(body)
    const shape: Shape = { model: body.model, toBody }
    const signal = clientGone(reply)
    if (!body.messages?.length) return emptyAnswer(shape, await loadOrRelease(models, body, signal))
    const generation = createOllamaChatGeneration(body, config)
    const steps = answerSteps(
      () => models.use(body.model, readOptions(body, signal)),
      ({ runtime, model }) => {
        refuseThinking(body, model)
        timing.loadMs = performance.now() - timing.startedAt
        return runtime.generate(generation, signal)
      },
    )
    if (body.stream === false) return await wholeAnswer(steps, shape, timing)
    return await streamLines(reply, steps, { ...config, shape, timing })
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
