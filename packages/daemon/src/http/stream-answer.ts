import type { FastifyReply } from 'fastify'
import type { Fault } from '../errors.ts'
import { type StreamFormat, startStream } from './body-stream.ts'
import { toStreamFault } from './error-handler.ts'

type Options<Step, End> = StreamFormat & {
  /** Converts the steps of the answer to the parts of the response. */
  toParts: (steps: AsyncGenerator<Step, End>) => AsyncGenerator<object, unknown>
  /** Converts an error to the last part of the response. */
  toFailure: (fault: Fault) => object
}

/**
 * Sends an answer while it is generated. The response starts after the first step, which is yielded when the request is
 * admitted. Until then, an error is thrown, so that it can be sent with its own HTTP status.
 */
export async function streamAnswer<Step, End>(
  reply: FastifyReply,
  steps: AsyncGenerator<Step, End>,
  { toParts, toFailure, ...format }: Options<Step, End>,
): Promise<FastifyReply> {
  const first = await steps.next()
  const stream = startStream(reply, format)
  try {
    for await (const part of toParts(startingWith(first, steps))) await stream.send(part)
    stream.end()
  } catch (error) {
    stream.end(toFailure(toStreamFault(error, reply.request)))
  }
  return reply
}

async function* startingWith<Step, End>(
  first: IteratorResult<Step, End>,
  rest: AsyncGenerator<Step, End>,
): AsyncGenerator<Step, End> {
  if (first.done) return first.value
  yield first.value
  return yield* rest
}

/** Converts each step to any number of parts. Returns what `steps` returns. */
export async function* convertSteps<Step, Part, End>(
  steps: AsyncGenerator<Step, End>,
  toParts: (step: Step) => Iterable<Part>,
): AsyncGenerator<Part, End> {
  for (;;) {
    const step = await steps.next()
    if (step.done) return step.value
    yield* toParts(step.value)
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
