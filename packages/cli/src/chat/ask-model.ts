import type {
  AnswerEnd,
  AnswerPart,
  ChatRequest,
  InferenceClient,
  Usage,
} from '@shoal/protocol/inference-client'

/** The functions that show an answer as it is generated. */
export type Show = { content(text: string): void; reasoning(text: string): void; end(): void }

export type Answer = {
  content: string
  /** The model's reasoning before the answer; empty for most models. */
  reasoning: string
  /** Why the answer ended: `stopped` if the signal fired before the answer was complete. */
  finishReason: string
  usage: Usage | undefined
  firstTokenSeconds: number | undefined
  seconds: number
}

/**
 * Shows the answer as it is generated, and returns it. If the signal fires, returns the partial answer. Other errors
 * are thrown.
 */
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
