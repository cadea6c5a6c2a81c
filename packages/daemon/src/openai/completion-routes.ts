import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { CompletionRequest } from '@shoal/protocol'
import type { DaemonConfig } from '../config.ts'
import { plainEvents } from '../http/body-stream.ts'
import { clientGone } from '../http/client-gone.ts'
import { requireGaps } from '../http/gaps.ts'
import { answerSteps, streamAnswer } from '../http/stream-answer.ts'
import type { LoadedModels } from '../models/loaded-models.ts'
import { type Finish, isEmpty, type TokenLogprobs } from '../runtime/runtime.ts'
import { type AnswerHead, answerHead, sumUsage, toFailure } from './answer-parts.ts'
import { createCompletionGenerations } from './generation.ts'
import { type GenerationStep, together } from './together.ts'

type Steps = AsyncGenerator<GenerationStep>

type Dependencies = { config: DaemonConfig; models: LoadedModels }

export const completionRoutes: FastifyPluginAsyncTypebox<Dependencies> = async (
  app,
  { config: { silenceMs }, models },
) => {
  app.post('/v1/completions', { schema: { body: CompletionRequest } }, async ({ body }, reply) => {
    const generations = createCompletionGenerations(body)
    const signal = clientGone(reply)
    const steps = answerSteps(
      () => models.use(body.model, { signal }),
      ({ runtime }) => {
        if (body.suffix) requireGaps(runtime, 'suffix')
        return together(runtime, generations, { count: body.n ?? 1, signal })
      },
    )
    const head = { ...answerHead('cmpl', body.model), object: 'text_completion' }
    if (!body.stream) return await wholeAnswer(steps, head, body)
    return await streamAnswer(reply, steps, {
      ...{ ...plainEvents, toFailure, silenceMs },
      toParts: (all) => answerChunks(all, head, body),
      toSign: () => toChunk(head, body, toChoice(0, { text: '' })),
    })
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

const wantsUsage = ({ stream_options }: CompletionRequest) => stream_options?.include_usage === true

function toChunk(head: AnswerHead, request: CompletionRequest, choice: object) {
  return { ...head, choices: [choice], ...(wantsUsage(request) && { usage: null }) }
}

async function* answerChunks(
  steps: Steps,
  head: AnswerHead,
  request: CompletionRequest,
): AsyncGenerator<object> {
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
    yield toChunk(head, request, toChoice(index, part, offset))
  }
  if (!wantsUsage(request)) return
  yield { ...head, choices: [], usage: sumUsage(finishes, request.n ?? 1) }
}
