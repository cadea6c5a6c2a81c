import { errorIn } from './errors.ts'
import { readEvents } from './read-events.ts'

/** A part of the answer's text, or of the reasoning that precedes it. */
export type AnswerPart = { content: string; reasoning: string }

export type Usage = {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
}

/** The last item that `readAnswer` yields. `finishReason` is `length` if the response reached its token limit. */
export type AnswerEnd = { finishReason: string; usage: Usage | undefined }

/**
 * Reads the streamed response of `POST /v1/chat/completions`: yields the parts as they arrive, then the end. Throws a
 * `DaemonError` if the stream contains an error, and a different error if the response is cut off or malformed.
 *
 * A response is complete once it has a finish reason. If the connection breaks after the finish reason, only the token
 * counts are missing.
 */
export async function* readAnswer(
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<AnswerPart | AnswerEnd> {
  let finishReason: string | undefined
  let usage: Usage | undefined
  for await (const data of untilBroken(readEvents(body), () => finishReason !== undefined)) {
    if (data === '[DONE]') break
    const chunk = Object(JSON.parse(data)) as Chunk
    const error = errorIn(chunk, { status: 500 })
    if (error) throw error
    const [choice] = chunk.choices ?? []
    finishReason = choice?.finish_reason ?? finishReason
    usage = chunk.usage ?? usage
    const { content, reasoning_content: reasoning } = choice?.delta ?? {}
    if (content || reasoning) yield { content: content ?? '', reasoning: reasoning ?? '' }
  }
  if (finishReason === undefined) throw new Error('the response was cut off')
  yield { finishReason, usage }
}

type Chunk = {
  choices?: {
    delta?: { content?: string | null; reasoning_content?: string | null }
    finish_reason?: string | null
  }[]
  usage?: Usage | null
}

/** Yields the events. If the connection breaks, ends normally if `isComplete` returns true, and throws otherwise. */
async function* untilBroken(
  events: AsyncIterable<string>,
  isComplete: () => boolean,
): AsyncGenerator<string> {
  try {
    yield* events
  } catch (error) {
    if (!isComplete()) throw error
  }
}
