import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ChatRequest } from '@shoal/protocol'
import type { DaemonConfig } from '../config.ts'
import { plainEvents } from '../http/body-stream.ts'
import { clientGone } from '../http/client-gone.ts'
import { answerSteps, streamAnswer } from '../http/stream-answer.ts'
import type { LoadedModels } from '../models/loaded-models.ts'
import { withJoinedCalls } from '../runtime/join-calls.ts'
import { type Finish, isEmpty, type Piece, type TokenLogprobs } from '../runtime/runtime.ts'
import {
  type AnswerHead,
  answerHead,
  sumUsage,
  type ToolCall,
  toFailure,
  toLogprobs,
  toToolCall,
} from './answer-parts.ts'
import { createChatGeneration, customNames } from './generation.ts'
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
      () => models.use(body.model, { signal }),
      ({ runtime }) => {
        const joined = withJoinedCalls(runtime, customNames(body))
        return together(joined, [generation], { count: body.n ?? 1, signal })
      },
    )
    const head = answerHead('chatcmpl', body.model)
    if (!body.stream) return await wholeAnswer(steps, head, body)
    return await streamAnswer(reply, steps, {
      ...{ ...plainEvents, toFailure, silenceMs: config.silenceMs },
      toParts: (all) => answerChunks(all, head, body),
      toSign: () => toChunk(head, body, { index: 0, delta: {} }),
    })
  })
}

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

async function wholeAnswer(steps: Steps, head: AnswerHead, request: ChatRequest) {
  const custom = customNames(request)
  const choices: Choice[] = []
  for await (const step of steps) {
    choices[step.index] ??= emptyChoice()
    const choice = choices[step.index] as Choice
    if ('finish' in step) choice.finish = step.finish
    else add(choice, step.piece, custom)
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

function add(choice: Choice, piece: Piece, custom: ReadonlySet<string>) {
  const { text = '', reasoning = '', toolCall, argumentsDelta, logprobs } = piece
  choice.text += text
  choice.reasoning += reasoning
  if (toolCall) choice.calls.push(toToolCall(toolCall, custom))
  const last = choice.calls.at(-1)
  if (last?.type === 'function' && argumentsDelta) last.function.arguments += argumentsDelta
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
  { index, delta, logprobs, end }: ChunkChoice,
) {
  const choice = { index, delta, logprobs: toLogprobs(logprobs), finish_reason: end ?? null }
  const usage = wantsUsage(request) && { usage: null }
  return { ...head, object: 'chat.completion.chunk', choices: [choice], ...usage }
}

async function* answerChunks(
  steps: Steps,
  head: AnswerHead,
  request: ChatRequest,
): AsyncGenerator<object> {
  const count = request.n ?? 1
  const custom = customNames(request)
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
    const [first, ...others] = toDeltas(piece, (callCounts[index] ?? 0) - 1, custom)
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
function toDeltas(piece: Piece, index: number, custom: ReadonlySet<string>): object[] {
  const { text, reasoning, toolCall, argumentsDelta } = piece
  if (argumentsDelta !== undefined) {
    return [{ tool_calls: [{ index, function: { arguments: argumentsDelta } }] }]
  }
  if (toolCall) {
    const call = toToolCall(toolCall, custom)
    if (call.type === 'custom') {
      const { name, input } = call.custom
      return [
        { tool_calls: [{ ...call, index, custom: { name, input: '' } }] },
        { tool_calls: [{ index, custom: { input } }] },
      ]
    }
    const { name, arguments: args } = call.function
    return [
      { tool_calls: [{ ...call, index, function: { name, arguments: '' } }] },
      ...(args === '' ? [] : [{ tool_calls: [{ index, function: { arguments: args } }] }]),
    ]
  }
  if (reasoning !== undefined) return [{ reasoning_content: reasoning }]
  return isEmpty(piece) ? [] : [{ content: text ?? '' }]
}
