import type {
  AnswerEnd,
  AnswerPart,
  ChatRequest,
  InferenceClient,
  Usage,
} from '@shoal/protocol/inference-client'

/** What is done with an answer while it comes. */
export type Show = { content(text: string): void; reasoning(text: string): void; end(): void }

export type Answer = {
  content: string
  /** What the model thought before it answered; empty for most. */
  reasoning: string
  /** `stopped` where the signal fired before the end. */
  finishReason: string
  usage: Usage | undefined
  firstTokenSeconds: number | undefined
  seconds: number
}

/** Asks, shows the answer as it comes, and gives it whole. A stop leaves what has come; other trouble is thrown. */
export async function askModel(
  client: InferenceClient,
  request: ChatRequest,
  { signal, show }: { signal: AbortSignal; show: Show },
): Promise<Answer> {
  const startedAt = performance.now()
  const seconds = () => (performance.now() - startedAt) / 1000
  const answer: Answer = {
    content: '',
    reasoning: '',
    finishReason: 'stopped',
    usage: undefined,
    firstTokenSeconds: undefined,
    seconds: 0,
  }
  function take(step: AnswerPart | AnswerEnd) {
    if ('finishReason' in step) return Object.assign(answer, step)
    const { content, reasoning } = step
    answer.firstTokenSeconds ??= seconds()
    if (reasoning) show.reasoning(reasoning)
    if (content) show.content(content)
    answer.reasoning += reasoning
    answer.content += content
  }

  try {
    for await (const step of client.chat(request, signal)) take(step)
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    show.end()
    answer.seconds = seconds()
  }
  return answer
}
