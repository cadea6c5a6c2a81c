import type { FastifyReply } from 'fastify'
import type { Fault } from '../errors.ts'
import type { Use } from '../models/use-model.ts'
import { type StreamFormat, startStream } from './body-stream.ts'
import { toStreamFault } from './error-handler.ts'

type Options<Step, End> = StreamFormat & {
  /** Converts the steps of the answer to the parts of the response. */
  toParts: (steps: AsyncGenerator<Step, End>) => AsyncGenerator<object, unknown>
  /** Creates a part that does not change the answer. Clients that receive it continue to wait. */
  toSign: () => object
  /** Converts an error to the last part of the response. */
  toFailure: (fault: Fault) => object
  /** If nothing has been sent for this time, in milliseconds, a sign is sent. */
  silenceMs: number
}

/**
 * Loads a model, and yields the steps of its answer. The model is in use until the answer has ended, or until the
 * generator is returned.
 */
export async function* answerSteps<Step, End>(
  use: () => Promise<Use>,
  answer: (use: Use) => AsyncGenerator<Step, End>,
): AsyncGenerator<Step, End> {
  using used = await use()
  return yield* answer(used)
}

/**
 * Sends an answer while it is generated. The response starts after the first step, which is yielded when the request is
 * admitted, or after `silenceMs`. Until then, an error is thrown, so that it can be sent with its own HTTP status.
 */
export async function streamAnswer<Step, End>(
  reply: FastifyReply,
  steps: AsyncGenerator<Step, End>,
  { toParts, toSign, toFailure, silenceMs, ...format }: Options<Step, End>,
): Promise<FastifyReply> {
  const first = steps.next()
  const isSilent = await isPendingAfter(silenceMs, first)
  const stream = startStream(reply, format)
  const sign = () => {
    if (!stream.isFull()) stream.report(toSign())
  }
  const silence = setInterval(sign, silenceMs)
  const atOnce = isSilent ? setImmediate(sign) : undefined
  try {
    for await (const part of toParts(startingWith(first, steps))) {
      clearImmediate(atOnce)
      silence.refresh()
      await stream.send(part)
    }
    stream.end()
  } catch (error) {
    stream.end(toFailure(toStreamFault(error, reply.request)))
  } finally {
    clearImmediate(atOnce)
    clearInterval(silence)
    await leave(steps)
  }
  return reply
}

/** Resolves to true after `ms` milliseconds, or to false if the promise is fulfilled before. */
async function isPendingAfter(ms: number, promise: Promise<unknown>): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(resolve, ms, true)
  try {
    return await Promise.race([promise.then(() => false), late])
  } finally {
    clearTimeout(timer)
  }
}

async function* startingWith<Step, End>(
  first: Promise<IteratorResult<Step, End>>,
  rest: AsyncGenerator<Step, End>,
): AsyncGenerator<Step, End> {
  const { done, value } = await first
  if (done) return value
  yield value
  return yield* rest
}

/** Ends a generator, if it has not ended, so that its model is no longer in use. */
async function leave<Step, End>(steps: AsyncGenerator<Step, End>) {
  await (steps as AsyncGenerator<Step, End | undefined>).return(undefined)
}

/** Converts each step to any number of parts. Returns what `steps` returns. */
export async function* convertSteps<Step, Part, End>(
  steps: AsyncGenerator<Step, End>,
  toParts: (step: Step) => Iterable<Part>,
): AsyncGenerator<Part, End> {
  try {
    for (;;) {
      const step = await steps.next()
      if (step.done) return step.value
      yield* toParts(step.value)
    }
  } finally {
    await leave(steps)
  }
}

/** Resolves to all steps, and to what `steps` returns. */
export async function readSteps<Step, End>(
  steps: AsyncGenerator<Step, End>,
): Promise<{ all: Step[]; end: End }> {
  const all: Step[] = []
  for (;;) {
    const step = await steps.next()
    if (step.done) return { all, end: step.value }
    all.push(step.value)
  }
}
