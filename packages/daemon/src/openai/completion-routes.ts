import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { CompletionRequest } from '@shoal/protocol'
import type { FastifyReply } from 'fastify'
import { bodyOf, faultOf } from '../http/error-handler.ts'
import type { LoadedModels } from '../models/loaded-models.ts'
import type { Finish } from '../runtime/runtime.ts'
import { type AnswerHead, answerHead, usageOf } from './answer-parts.ts'
import { clientGone } from './client-gone.ts'
import { startEventStream } from './event-stream.ts'
import { generationOfCompletion } from './generation.ts'
import { type Step, together } from './together.ts'

export const completionRoutes: FastifyPluginAsyncTypebox<{ models: LoadedModels }> = async (
  app,
  { models },
) => {
  app.post('/v1/completions', { schema: { body: CompletionRequest } }, async ({ body }, reply) => {
    const generation = generationOfCompletion(body)
    const signal = clientGone(reply)
    using use = await models.use(body.model)
    const steps = together(use.runtime, generation, { count: body.n ?? 1, signal })
    const head = { ...answerHead('cmpl', body.model), object: 'text_completion' }
    if (body.stream) return await streamAnswer(reply, steps, head, body)
    return await wholeAnswer(steps, head)
  })
}

const choiceOf = (index: number, text: string, finish: Finish | undefined) => ({
  index,
  text,
  logprobs: null,
  finish_reason: finish?.reason ?? null,
})

async function wholeAnswer(steps: AsyncGenerator<Step>, head: AnswerHead) {
  const texts: string[] = []
  const finishes: Finish[] = []
  for await (const step of steps) {
    if ('finish' in step) finishes[step.index] = step.finish
    else texts[step.index] = (texts[step.index] ?? '') + step.piece.text
  }
  const choices = finishes.map((finish, index) => choiceOf(index, texts[index] ?? '', finish))
  return { ...head, choices, usage: usageOf(finishes) }
}

async function streamAnswer(
  reply: FastifyReply,
  steps: AsyncGenerator<Step>,
  head: AnswerHead,
  { stream_options }: CompletionRequest,
) {
  const wantsUsage = stream_options?.include_usage === true
  const finishes: Finish[] = []
  // Until here it can be refused with a status of its own.
  let step = await steps.next()
  const stream = startEventStream(reply)
  try {
    for (; !step.done; step = await steps.next()) {
      const { value } = step
      if ('finish' in value) finishes.push(value.finish)
      const [text, finish] = 'finish' in value ? ['', value.finish] : [value.piece.text, undefined]
      const choices = [choiceOf(value.index, text, finish)]
      await stream.send({ ...head, choices, ...(wantsUsage && { usage: null }) })
    }
    if (wantsUsage) await stream.send({ ...head, choices: [], usage: usageOf(finishes) })
    stream.end()
  } catch (error) {
    stream.end({ error: bodyOf(faultOf(error)).error })
  }
  return reply
}
