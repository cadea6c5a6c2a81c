/** An answer of the daemon's as it comes: the events of `POST /v1/chat/completions`. */
import { callDaemon, type DaemonAddress, errorIn, readChunks } from './daemon-call.ts'
import { DaemonGoneError } from './daemon-error.ts'

export type ChatMessage = { role: 'system' | 'user' | 'assistant'; content: string }

export type ChatRequest = {
  model: string
  messages: ChatMessage[]
  temperature?: number
  top_p?: number
  max_tokens?: number
  seed?: number
}

/** Some text, or some of what the model thinks before it. */
export type AnswerPart = { content?: string | null; reasoning_content?: string | null }

export type Usage = {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
}

export type AnswerEnd = { finishReason: string; usage: Usage | undefined }

type Chunk = {
  choices?: { delta?: AnswerPart; finish_reason?: string | null }[]
  usage?: Usage | null
}

/** Yields the parts; returns how it ended. Rejects as `callDaemon` does. */
export async function* streamChat(
  address: DaemonAddress,
  request: ChatRequest,
  signal: AbortSignal,
): AsyncGenerator<AnswerPart, AnswerEnd> {
  const body = { ...request, stream: true, stream_options: { include_usage: true } }
  const call = { method: 'POST', path: '/v1/chat/completions', body, signal } as const
  const response = await callDaemon(address, call)
  let finishReason: string | undefined
  let usage: Usage | undefined
  for await (const data of eventsOf(readChunks(address, response, signal))) {
    if (data === '[DONE]') break
    const chunk = JSON.parse(data) as Chunk
    const error = errorIn(chunk, response.statusCode ?? 0)
    if (error) throw error
    const [choice] = chunk.choices ?? []
    finishReason = choice?.finish_reason ?? finishReason
    usage = chunk.usage ?? usage
    if (choice?.delta) yield choice.delta
  }
  if (finishReason === undefined) throw new DaemonGoneError(address.url, true)
  return { finishReason, usage }
}

/** The data of server-sent events. */
async function* eventsOf(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  const { createParser } = await import('eventsource-parser')
  const arrived: string[] = []
  const parser = createParser({ onEvent: ({ data }) => arrived.push(data) })
  for await (const chunk of chunks) {
    parser.feed(chunk)
    yield* arrived.splice(0)
  }
}
