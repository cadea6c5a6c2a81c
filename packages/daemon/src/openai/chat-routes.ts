import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ChatRequest } from '@shoal/protocol'
import type { FastifyReply } from 'fastify'
import { bodyOf, faultOf } from '../http/error-handler.ts'
import type { LoadedModels } from '../models/loaded-models.ts'
import type { Finish, TokenLogprobs } from '../runtime/runtime.ts'
import { type AnswerHead, answerHead, logprobsOf, usageOf } from './answer-parts.ts'
import { clientGone } from './client-gone.ts'
import { startEventStream } from './event-stream.ts'
import { generationOfChat } from './generation.ts'
import { type Step, together } from './together.ts'

type Steps = AsyncGenerator<Step>

export const chatRoutes: FastifyPluginAsyncTypebox<{ models: LoadedModels }> = async (
  app,
  { models },
) => {
  app.post('/v1/chat/completions', { schema: { body: ChatRequest } }, async ({ body }, reply) => {
    const generation = generationOfChat(body)
    const signal = clientGone(reply)
    using use = await models.use(body.model)
    const steps = together(use.runtime, generation, { count: body.n ?? 1, signal })
    const head = answerHead('chatcmpl', body.model)
    if (body.stream) return await streamAnswer(reply, steps, head, body)
    return await wholeAnswer(steps, head)
  })
}

type Choice = { text: string; logprobs: TokenLogprobs[] | undefined; finish: Finish | undefined }

async function wholeAnswer(steps: Steps, head: AnswerHead) {
  const choices: Choice[] = []
  for await (const step of steps) {
    choices[step.index] ??= { text: '', logprobs: undefined, finish: undefined }
    const choice = choices[step.index] as Choice
    if ('finish' in step) choice.finish = step.finish
    else {
      choice.text += step.piece.text
      if (step.piece.logprobs)
        choice.logprobs = [...(choice.logprobs ?? []), ...step.piece.logprobs]
    }
  }
  return {
    ...head,
    object: 'chat.completion',
    choices: choices.map(({ text, logprobs, finish }, index) => ({
      index,
      message: { role: 'assistant', content: text, refusal: null },
      logprobs: logprobsOf(logprobs),
      finish_reason: finish?.reason ?? 'stop',
    })),
    usage: usageOf(choices.flatMap(({ finish }) => finish ?? [])),
  }
}

async function streamAnswer(
  reply: FastifyReply,
  steps: Steps,
  head: AnswerHead,
  { stream_options, n }: ChatRequest,
) {
  const wantsUsage = stream_options?.include_usage === true
  const chunk = (
    index: number,
    delta: object,
    more: { logprobs?: object | null; end?: string } = {},
  ) => ({
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index, delta, logprobs: more.logprobs ?? null, finish_reason: more.end ?? null }],
    ...(wantsUsage && { usage: null }),
  })

  // Until here it can be refused with a status of its own.
  let step = await steps.next()
  const stream = startEventStream(reply)
  const finishes: Finish[] = []
  try {
    for (let index = 0; index < (n ?? 1); index += 1) {
      await stream.send(chunk(index, { role: 'assistant', content: '' }))
    }
    for (; !step.done; step = await steps.next()) {
      const { value } = step
      if ('finish' in value) {
        finishes.push(value.finish)
        await stream.send(chunk(value.index, {}, { end: value.finish.reason }))
      } else {
        const { text, logprobs } = value.piece
        await stream.send(chunk(value.index, { content: text }, { logprobs: logprobsOf(logprobs) }))
      }
    }
    if (wantsUsage) {
      const usage = usageOf(finishes)
      await stream.send({ ...head, object: 'chat.completion.chunk', choices: [], usage })
    }
    stream.end()
  } catch (error) {
    stream.end({ error: bodyOf(faultOf(error)).error })
  }
  return reply
}
