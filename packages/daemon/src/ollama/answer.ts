/**
 * Sends a model's answer to an Ollama client, either as a stream with one line for each part, or as a single object.
 */
import type { FastifyReply } from 'fastify'
import type { DaemonConfig } from '../config.ts'
import { jsonLines } from '../http/body-stream.ts'
import { toOllamaErrorBody } from '../http/error-handler.ts'
import { convertSteps, readSteps, streamAnswer } from '../http/stream-answer.ts'
import { joinCalls } from '../runtime/join-calls.ts'
import type { Finish, Piece, TokenLogprobs } from '../runtime/runtime.ts'
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

/** When the request arrived, and how long it waited for its model, in milliseconds. `loadMs` is set during the answer. */
export type Timing = { startedAt: number; loadMs: number }

export async function wholeAnswer(steps: Steps, shape: Shape, timing: Timing) {
  const { all, end } = await readSteps(answerParts(steps))
  return makeLastBody(shape, mergeParts(all), end, timing)
}

type StreamOptions = Pick<DaemonConfig, 'silenceMs'> & { shape: Shape; timing: Timing }

export function streamLines(
  reply: FastifyReply,
  steps: Steps,
  { shape, timing, silenceMs }: StreamOptions,
) {
  const toLine = (part: AnswerPart) => ({
    ...makeHead(shape),
    ...shape.toBody(part),
    done: false,
  })
  return streamAnswer(reply, steps, {
    ...{ ...jsonLines, silenceMs },
    async *toParts(all) {
      const finish = yield* convertSteps(answerParts(all), (part) => [toLine(part)])
      yield makeLastBody(shape, mergeParts([]), finish, timing)
    },
    toSign: () => toLine(mergeParts([])),
    toFailure: toOllamaErrorBody,
  })
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

/** Converts an answer to Ollama's format. */
async function* answerParts(steps: Steps): AsyncGenerator<AnswerPart, Finish> {
  const joining = joinCalls()
  let callCount = 0
  const toPart = ({ text = '', reasoning = '', toolCall, logprobs }: Piece): AnswerPart => {
    const calls = toolCall ? [toOllamaCall(toolCall, callCount)] : []
    callCount += calls.length
    return { text, thinking: reasoning, calls, logprobs }
  }
  const finish = yield* convertSteps(steps, (piece) => joining.take(piece).map(toPart))
  yield* joining.finish().map(toPart)
  return finish
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
