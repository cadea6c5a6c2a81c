import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { CompletionRequest } from '@shoal/protocol'
import { plainEvents } from '../http/body-stream.ts'
import { clientGone } from '../http/client-gone.ts'
import { requireGaps } from '../http/gaps.ts'
import { streamAnswer } from '../http/stream-answer.ts'
import type { LoadedModels } from '../models/loaded-models.ts'
import { type Finish, isEmpty, type TokenLogprobs } from '../runtime/runtime.ts'
import { type AnswerHead, answerHead, sumUsage, toFailure } from './answer-parts.ts'
import { createCompletionGenerations } from './generation.ts'
import { type GenerationStep, together } from './together.ts'

type Steps = AsyncGenerator<GenerationStep>

export const completionRoutes: FastifyPluginAsyncTypebox<{ models: LoadedModels }> = async (
  app,
  { models },
) => {
  app.post('/v1/completions', { schema: { body: CompletionRequest } }, async ({ body }, reply) => {
    const generations = createCompletionGenerations(body)
    const signal = clientGone(reply)
    using use = await models.use(body.model)
    if (body.suffix) requireGaps(use.runtime, 'suffix')
    const steps = together(use.runtime, generations, { count: body.n ?? 1, signal })
    const head = { ...answerHead('cmpl', body.model), object: 'text_completion' }
    if (!body.stream) return await wholeAnswer(steps, head, body)
    const toParts = (all: Steps) => answerChunks(all, head, body)
    return await streamAnswer(reply, steps, { ...plainEvents, toParts, toFailure })
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

async function wholeAnswer(steps: Steps, head: AnswerHead, { n }: CompletionRequest) {
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

async function* answerChunks(
  steps: Steps,
  head: AnswerHead,
  { stream_options, n }: CompletionRequest,
): AsyncGenerator<object> {
  const wantsUsage = stream_options?.include_usage === true
  const finishes: Finish[] = []
  const lengths: number[] = []
  for await (const step of steps) {
    const { index } = step
    if ('piece' in step && isEmpty(step.piece)) continue
    if ('finish' in step) finishes[index] = step.finish
    const part: Part =
      'finish' in step
        ? { text: '', finish: step.finish }
        : { text: step.piece.text ?? '', logprobs: step.piece.logprobs }
    const offset = lengths[index] ?? 0
    lengths[index] = offset + part.text.length
    const choices = [toChoice(index, part, offset)]
    yield { ...head, choices, ...(wantsUsage && { usage: null }) }
  }
  if (wantsUsage) yield { ...head, choices: [], usage: sumUsage(finishes, n ?? 1) }
}
