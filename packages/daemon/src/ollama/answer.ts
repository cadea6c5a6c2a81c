/**
 * Sends a model's answer to an Ollama client, either as a stream with one line for each part, or as a single object.
 */
import type { FastifyReply } from 'fastify'
import type { Finish, Piece, TokenLogprobs } from '../runtime/runtime.ts'
import { joinCalls } from './join-calls.ts'
import { startLineStream } from './line-stream.ts'
import { type OllamaCall, toOllamaCall } from './tool-call.ts'

type Steps = AsyncGenerator<Piece, Finish>

/** A part of an answer, or the complete answer. */
export type AnswerPart = {
  text: string
  thinking: string
  calls: OllamaCall[]
  logprobs: TokenLogprobs[] | undefined
}

/** The parts of a response that differ between `/api/chat` and `/api/generate`. */
export type Shape = {
  model: string
  /** Returns the members that contain the text. */
  toBody(part: AnswerPart): object
}

/** When the request arrived, and how long it waited for its model, in milliseconds. */
export type Timing = { startedAt: number; loadMs: number }

export async function wholeAnswer(steps: Steps, shape: Shape, timing: Timing) {
  const all: AnswerPart[] = []
  const toParts = partReader()
  for (;;) {
    const step = await steps.next()
    all.push(...toParts(step))
    if (step.done) return makeLastBody(shape, mergeParts(all), step.value, timing)
  }
}

export async function streamAnswer(
  reply: FastifyReply,
  steps: Steps,
  shape: Shape,
  timing: Timing,
) {
  // Until the request is admitted, an error can be sent with its own HTTP status.
  let step = await steps.next()
  const stream = startLineStream(reply)
  try {
    const toParts = partReader()
    for (; ; step = await steps.next()) {
      for (const part of toParts(step)) {
        await stream.send({ ...makeHead(shape), ...shape.toBody(part), done: false })
      }
      if (step.done) break
    }
    stream.end(makeLastBody(shape, mergeParts([]), step.value, timing))
  } catch (error) {
    stream.fail(error)
  }
  return reply
}

/** The response to a request that only loads or unloads a model. */
export function emptyAnswer(shape: Shape, reason: 'load' | 'unload') {
  return { ...makeHead(shape), ...shape.toBody(mergeParts([])), done: true, done_reason: reason }
}

const makeHead = ({ model }: Shape) => ({ model, created_at: new Date().toISOString() })

function makeLastBody(
  shape: Shape,
  part: AnswerPart,
  finish: Finish,
  { startedAt, loadMs }: Timing,
) {
  const { reason, promptTokens, completionTokens, firstTokenMs, generationMs } = finish
  return {
    ...makeHead(shape),
    ...shape.toBody(part),
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

/** Returns a function that converts the steps of one answer to Ollama's format. */
function partReader() {
  const joining = joinCalls()
  let callCount = 0
  const toPart = ({ text = '', reasoning = '', toolCall, logprobs }: Piece): AnswerPart => {
    const calls = toolCall ? [toOllamaCall(toolCall, callCount)] : []
    callCount += calls.length
    return { text, thinking: reasoning, calls, logprobs }
  }
  return (step: IteratorResult<Piece, Finish>) =>
    (step.done ? joining.finish() : joining.take(step.value)).map(toPart)
}

function mergeParts(all: AnswerPart[]): AnswerPart {
  const logprobs = all.flatMap((part) => part.logprobs ?? [])
  return {
    text: all.map(({ text }) => text).join(''),
    thinking: all.map(({ thinking }) => thinking).join(''),
    calls: all.flatMap(({ calls }) => calls),
    logprobs: logprobs.length > 0 ? logprobs : undefined,
  }
}
