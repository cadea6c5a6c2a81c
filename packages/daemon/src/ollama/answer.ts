/** How a model's answer goes to a client of Ollama: as lines while it comes, or as one object. */
import type { FastifyReply } from 'fastify'
import type { Finish, Piece, TokenLogprobs } from '../runtime/runtime.ts'
import { startLineStream } from './line-stream.ts'
import { type OllamaCall, toolCallOf } from './tool-call.ts'

type Steps = AsyncGenerator<Piece, Finish>

/** A part of an answer, or all of it. */
export type Said = {
  text: string
  thinking: string
  calls: OllamaCall[]
  logprobs: TokenLogprobs[] | undefined
}

/** What differs between the endpoints. */
export type Shape = {
  model: string
  /** The members that say something. */
  partOf(said: Said): object
}

/** When the request came, and how long it waited for its model. In milliseconds. */
export type Timing = { startedAt: number; loadMs: number }

export async function wholeAnswer(steps: Steps, shape: Shape, timing: Timing) {
  const all: Said[] = []
  for (let count = 0; ; ) {
    const step = await steps.next()
    if (step.done) return lastOf(shape, mergedOf(all), step.value, timing)
    const said = saidOf(step.value, count)
    count += said.calls.length
    all.push(said)
  }
}

export async function streamAnswer(
  reply: FastifyReply,
  steps: Steps,
  shape: Shape,
  timing: Timing,
) {
  // Until here it can be refused with a status of its own.
  let step = await steps.next()
  const stream = startLineStream(reply)
  try {
    for (let count = 0; !step.done; step = await steps.next()) {
      const said = saidOf(step.value, count)
      count += said.calls.length
      await stream.send({ ...headOf(shape), ...shape.partOf(said), done: false })
    }
    stream.end(lastOf(shape, mergedOf([]), step.value, timing))
  } catch (error) {
    stream.fail(error)
  }
  return reply
}

/** The answer to who only loads or unloads a model. */
export function emptyAnswer(shape: Shape, reason: 'load' | 'unload') {
  return { ...headOf(shape), ...shape.partOf(mergedOf([])), done: true, done_reason: reason }
}

const headOf = ({ model }: Shape) => ({ model, created_at: new Date().toISOString() })

function lastOf(shape: Shape, said: Said, finish: Finish, { startedAt, loadMs }: Timing) {
  const { reason, promptTokens, completionTokens, firstTokenMs, generationMs } = finish
  return {
    ...headOf(shape),
    ...shape.partOf(said),
    done: true,
    done_reason: reason === 'length' ? 'length' : 'stop',
    total_duration: nanoseconds(performance.now() - startedAt),
    load_duration: nanoseconds(loadMs),
    prompt_eval_count: promptTokens,
    prompt_eval_duration: nanoseconds(firstTokenMs),
    eval_count: completionTokens,
    eval_duration: nanoseconds(Math.max(0, generationMs - firstTokenMs)),
  }
}

export const nanoseconds = (ms: number) => Math.round(ms * 1e6)

function saidOf({ text = '', reasoning = '', toolCall, logprobs }: Piece, callsBefore: number) {
  const calls = toolCall ? [toolCallOf(toolCall, callsBefore)] : []
  return { text, thinking: reasoning, calls, logprobs }
}

function mergedOf(all: Said[]): Said {
  const logprobs = all.flatMap((said) => said.logprobs ?? [])
  return {
    text: all.map(({ text }) => text).join(''),
    thinking: all.map(({ thinking }) => thinking).join(''),
    calls: all.flatMap(({ calls }) => calls),
    logprobs: logprobs.length > 0 ? logprobs : undefined,
  }
}
