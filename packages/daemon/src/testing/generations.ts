import type { AnswerForm, Generation, Piece, Runtime, Sampling, Tool } from '../runtime/runtime.ts'

/** Always chooses the most likely token. */
export const greedy: Sampling = {
  temperature: 0,
  topP: 1,
  topK: 0,
  minP: 0,
  seed: 1,
  presencePenalty: 0,
  frequencyPenalty: 0,
  repeatPenalty: 1,
  repeatLastTokens: undefined,
  logitBias: [],
}

export const jsonForm = (schema: object): AnswerForm => ({ param: 'response_format', schema })

export function makeChatGeneration(content: string, changes: Partial<Generation> = {}): Generation {
  return {
    prompt: {
      chat: { messages: [{ role: 'user', content }], tools: [], toolChoice: 'auto', variables: {} },
    },
    maxTokens: 60,
    stop: [],
    sampling: greedy,
    form: undefined,
    topLogprobs: undefined,
    ...changes,
  }
}

export function tool(name: string, parameters: object): Tool {
  return { type: 'function', function: { name, description: `does ${name}`, parameters } }
}

/** Runs a generation to its end, and returns the complete answer. */
export async function runGeneration(
  runtime: Pick<Runtime, 'generate'>,
  generation: Generation,
  signal: AbortSignal = new AbortController().signal,
) {
  const pieces: Piece[] = []
  const steps = runtime.generate(generation, signal)
  for (;;) {
    const step = await steps.next()
    if (step.done) {
      const text = pieces.map(({ text = '' }) => text).join('')
      return { text, pieces, ...step.value }
    }
    pieces.push(step.value)
  }
}

/** Joins the parts of tool calls. */
export function joinCalls(pieces: readonly Piece[]) {
  const calls: NonNullable<Piece['toolCall']>[] = []
  for (const { toolCall, argumentsDelta = '' } of pieces) {
    if (toolCall) calls.push({ ...toolCall })
    const last = calls.at(-1)
    if (last) last.arguments += argumentsDelta
  }
  return calls
}
