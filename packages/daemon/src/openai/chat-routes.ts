import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ChatRequest } from '@shoal/protocol'
import type { DaemonConfig } from '../config.ts'
import { plainEvents } from '../http/body-stream.ts'
import { clientGone } from '../http/client-gone.ts'
import { answerSteps, streamAnswer } from '../http/stream-answer.ts'
import type { LoadedModels } from '../models/loaded-models.ts'
import { type Finish, isEmpty, type Piece, type TokenLogprobs } from '../runtime/runtime.ts'
import {
  type AnswerHead,
  answerHead,
  sumUsage,
  toFailure,
  toLogprobs,
  toToolCall,
} from './answer-parts.ts'
import { createChatGeneration } from './generation.ts'
import { type GenerationStep, together } from './together.ts'

type Steps = AsyncGenerator<GenerationStep>

type Dependencies = { config: DaemonConfig; models: LoadedModels }

export const chatRoutes: FastifyPluginAsyncTypebox<Dependencies> = async (
  app,
  { config, models },
) => {
  app.post('/v1/chat/completions', { schema: { body: ChatRequest } }, async ({ body }, reply) => {
    const generation = createChatGeneration(body, config)
    const signal = clientGone(reply)
    const steps = answerSteps(
      () => models.use(body.model),
      ({ runtime }) => together(runtime, [generation], { count: body.n ?? 1, signal }),
    )
    const head = answerHead('chatcmpl', body.model)
    if (!body.stream) return await wholeAnswer(steps, head)
    return await streamAnswer(reply, steps, {
      ...{ ...plainEvents, toFailure, silenceMs: config.silenceMs },
      toParts: (all) => answerChunks(all, head, body),
      toSign: () => toChunk(head, body, { index: 0, delta: {} }),
    })
  })
}

type ToolCall = ReturnType<typeof toToolCall>

type Choice = {
  text: string
  reasoning: string
  calls: ToolCall[]
  logprobs: TokenLogprobs[] | undefined
  finish: Finish | undefined
}

const emptyChoice = (): Choice => ({
  text: '',
  reasoning: '',
  calls: [],
  logprobs: undefined,
  finish: undefined,
})

async function wholeAnswer(steps: Steps, head: AnswerHead) {
  const choices: Choice[] = []
  for await (const step of steps) {
    choices[step.index] ??= emptyChoice()
    const choice = choices[step.index] as Choice
    if ('finish' in step) choice.finish = step.finish
    else add(choice, step.piece)
  }
  return {
    ...head,
    object: 'chat.completion',
    choices: choices.map((choice, index) => ({
      index,
      message: toMessage(choice),
      logprobs: toLogprobs(choice.logprobs),
      finish_reason: choice.finish?.reason ?? 'stop',
    })),
    usage: sumUsage(
      choices.flatMap(({ finish }) => finish ?? []),
      choices.length,
    ),
  }
}

function add(choice: Choice, piece: Piece) {
  const { text = '', reasoning = '', toolCall, argumentsDelta, logprobs } = piece
  choice.text += text
  choice.reasoning += reasoning
  if (toolCall) choice.calls.push(toToolCall(toolCall))
  const last = choice.calls.at(-1)
  if (last && argumentsDelta) last.function.arguments += argumentsDelta
  if (logprobs) choice.logprobs = [...(choice.logprobs ?? []), ...logprobs]
}

function toMessage({ text, reasoning, calls }: Choice) {
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    refusal: null,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
}

type ChunkChoice = {
  index: number
  delta: object
  logprobs?: TokenLogprobs[] | undefined
  end?: string
}

const wantsUsage = ({ stream_options }: ChatRequest) => stream_options?.include_usage === true

function toChunk(
  head: AnswerHead,
  request: ChatRequest,
  { index, delta, logprobs, end = null }: ChunkChoice,
) {
  const choice = { index, delta, logprobs: toLogprobs(logprobs), finish_reason: end }
  const usage = wantsUsage(request) && { usage: null }
  return { ...head, object: 'chat.completion.chunk', choices: [choice], ...usage }
}

async function* answerChunks(
  steps: Steps,
  head: AnswerHead,
  request: ChatRequest,
): AsyncGenerator<object> {
  const count = request.n ?? 1
  const chunk = (index: number, delta: object, logprobs?: TokenLogprobs[]) =>
    toChunk(head, request, { index, delta, logprobs })
  const finishes: Finish[] = []
  const callCounts: number[] = []
  for (let index = 0; index < count; index += 1) {
    yield chunk(index, { role: 'assistant', content: '' })
  }
  for await (const step of steps) {
    const { index } = step
    if ('finish' in step) {
      finishes[index] = step.finish
      yield toChunk(head, request, { index, delta: {}, end: step.finish.reason })
      continue
    }
    const { piece } = step
    if (piece.toolCall) callCounts[index] = (callCounts[index] ?? 0) + 1
    const [first, ...others] = toDeltas(piece, (callCounts[index] ?? 0) - 1)
    if (first) yield chunk(index, first, piece.logprobs)
    for (const delta of others) yield chunk(index, delta)
  }
  if (!wantsUsage(request)) return
  const usage = sumUsage(finishes, count)
  yield { ...head, object: 'chat.completion.chunk', choices: [], usage }
}

/**
 * Converts a part of an answer. A tool call is split as clients expect: first its name, then its arguments. `index` is
 * the index of the current tool call.
 */
function toDeltas(piece: Piece, index: number): object[] {
  const { text, reasoning, toolCall, argumentsDelta } = piece
  if (argumentsDelta !== undefined) {
    return [{ tool_calls: [{ index, function: { arguments: argumentsDelta } }] }]
  }
  if (toolCall) {
    const { id, type, function: called } = toToolCall(toolCall)
    const { name, arguments: args } = called
    return [
      { tool_calls: [{ index, id, type, function: { name, arguments: '' } }] },
      ...(args === '' ? [] : [{ tool_calls: [{ index, function: { arguments: args } }] }]),
    ]
  }
  if (reasoning !== undefined) return [{ reasoning_content: reasoning }]
  return isEmpty(piece) ? [] : [{ content: text ?? '' }]
}
