import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { CompletionRequest } from '@shoal/protocol'
import type { FastifyReply } from 'fastify'
import { clientGone } from '../http/client-gone.ts'
import { toErrorBody, toStreamFault } from '../http/error-handler.ts'
import { startEventStream } from '../http/event-stream.ts'
import type { LoadedModels } from '../models/loaded-models.ts'
import { type Finish, isEmpty, type TokenLogprobs } from '../runtime/runtime.ts'
import { type AnswerHead, answerHead, sumUsage } from './answer-parts.ts'
import { createCompletionGenerations } from './generation.ts'
import { type GenerationStep, together } from './together.ts'

export const completionRoutes: FastifyPluginAsyncTypebox<{ models: LoadedModels }> = async (
  app,
  { models },
) => {
  app.post('/v1/completions', { schema: { body: CompletionRequest } }, async ({ body }, reply) => {
    const generations = createCompletionGenerations(body)
    const signal = clientGone(reply)
    using use = await models.use(body.model)
    const steps = together(use.runtime, generations, { count: body.n ?? 1, signal })
    const head = { ...answerHead('cmpl', body.model), object: 'text_completion' }
    if (body.stream) return await streamAnswer(reply, steps, head, body)
    return await wholeAnswer(steps, head, body)
  })
}

type Part = { text: string; logprobs?: TokenLogprobs[] | undefined; finish?: Finish | undefined }

/** Converts a part of an answer to a choice. `offset` is the position of the part's text in the answer. */
const toChoice = (index: number, { text, logprobs, finish }: Part, offset = 0) => ({
  index,
  text,
  logprobs: logprobs ? toCompletionLogprobs(logprobs, offset) : null,
  finish_reason: finish?.reason ?? null,
})

/** Converts log probabilities to the legacy format of `/v1/completions`: parallel lists. */
function toCompletionLogprobs(tokens: TokenLogprobs[], start: number) {
  let offset = start
  return {
    tokens: tokens.map(({ token }) => token),
    token_logprobs: tokens.map(({ logprob }) => logprob),
    top_logprobs: tokens.map(({ top_logprobs }) =>
      Object.fromEntries(top_logprobs.map(({ token, logprob }) => [token, logprob])),
    ),
    text_offset: tokens.map(({ token }) => {
      offset += token.length
      return offset - token.length
    }),
  }
}

async function wholeAnswer(
  steps: AsyncGenerator<GenerationStep>,
  head: AnswerHead,
  { n }: CompletionRequest,
) {
  const parts: Part[] = []
  for await (const step of steps) {
    parts[step.index] ??= { text: '' }
    const part = parts[step.index] as Part
    if ('finish' in step) part.finish = step.finish
    else {
      part.text += step.piece.text ?? ''
      if (step.piece.logprobs) part.logprobs = [...(part.logprobs ?? []), ...step.piece.logprobs]
    }
  }
  const choices = parts.map((part, index) => toChoice(index, part))
  const finishes = parts.flatMap(({ finish }) => finish ?? [])
  return { ...head, choices, usage: sumUsage(finishes, n ?? 1) }
}

async function streamAnswer(
  reply: FastifyReply,
  steps: AsyncGenerator<GenerationStep>,
  head: AnswerHead,
  { stream_options, n }: CompletionRequest,
) {
  const wantsUsage = stream_options?.include_usage === true
  const finishes: Finish[] = []
  const lengths: number[] = []
  // Until the request is admitted, an error can be sent with its own HTTP status.
  let step = await steps.next()
  const stream = startEventStream(reply)
  try {
    for (; !step.done; step = await steps.next()) {
      const { value } = step
      if ('piece' in value && isEmpty(value.piece)) continue
      if ('finish' in value) finishes[value.index] = value.finish
      const part: Part =
        'finish' in value
          ? { text: '', finish: value.finish }
          : { text: value.piece.text ?? '', logprobs: value.piece.logprobs }
      const offset = lengths[value.index] ?? 0
      const choices = [toChoice(value.index, part, offset)]
      lengths[value.index] = offset + part.text.length
      await stream.send({ ...head, choices, ...(wantsUsage && { usage: null }) })
    }
    if (wantsUsage) await stream.send({ ...head, choices: [], usage: sumUsage(finishes, n ?? 1) })
    stream.end()
  } catch (error) {
    stream.end({ error: toErrorBody(toStreamFault(error, reply.request)).error })
  }
  return reply
}
