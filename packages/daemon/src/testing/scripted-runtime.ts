/** A runtime for tests that follows a script. Each word is a token, and tokens are generated one at a time. */
import { untilAborted } from '@shoal/core/async'
import { stopStrings } from '../runtime/llama/stop-strings.ts'
import {
  type Generation,
  type Piece,
  type Prompt,
  processLost,
  promptTooLong,
  type Runtime,
  type RuntimeOptions,
  type StartRuntime,
} from '../runtime/runtime.ts'

type Script = {
  /** The parts of every answer. Each part that has text contains exactly one word. */
  pieces?: Piece[]
  /** The number of parts after which the model's process appears to be killed by a signal. */
  diesAfter?: number
  /** The signal; SIGSEGV by default. */
  diesOf?: 'SIGSEGV' | 'SIGKILL'
  /** Resolves when the next part may be generated. */
  pace?: () => Promise<void>
}

const hello: Piece[] = ['Hello', '!', ' How', ' are', ' you', '?'].map((text) => ({ text }))

export function scriptedRuntime(script: Script = {}): StartRuntime {
  return async (options) => createRuntime(options, script)
}

function createRuntime(
  { contextLength, slots }: RuntimeOptions,
  { pieces = hello, diesAfter, diesOf = 'SIGSEGV', pace = async () => undefined }: Script,
): Runtime {
  const ended = Promise.withResolvers<string | undefined>()
  let free = slots
  let freed = Promise.withResolvers<void>()

  async function takeSlot(signal: AbortSignal) {
    while (free === 0) await untilAborted(signal, freed.promise)
    signal.throwIfAborted()
    free -= 1
  }

  function leaveSlot() {
    free += 1
    freed.resolve()
    freed = Promise.withResolvers<void>()
  }

  return {
    facts: {
      contextLength,
      slots,
      canGenerate: true,
      canFillGaps: true,
      embeddingContextLength: contextLength,
      longestTokenBytes: Number.POSITIVE_INFINITY,
    },
    pid: 0,
    ended: ended.promise,
    async close() {
      ended.resolve(undefined)
    },
    countTokens: async (prompt) => splitWords(prompt).length,
    applyTemplate: async (prompt) => splitWords(prompt).join(' '),
    tokenize: async ({ text }) => [...Buffer.from(text)],
    tokenBytes: async (tokens) => tokens.map((token) => [token]),
    freeCache: async () => undefined,

    async *generate(generation: Generation, signal: AbortSignal) {
      const prompt = splitWords(generation.prompt)
      if (prompt.length >= contextLength) {
        throw promptTooLong({ promptTokens: prompt.length, contextLength })
      }
      await takeSlot(signal)
      const stops = stopStrings(generation.stop)
      const maxPieces = Math.min(generation.maxTokens ?? Number.POSITIVE_INFINITY, pieces.length)
      let count = 0
      try {
        yield { prompt: { promptTokens: prompt.length, cachedTokens: 0 } }
        while (count < maxPieces && !stops.isStopped()) {
          await pace()
          signal.throwIfAborted()
          if (count === diesAfter) {
            const lost = processLost({ killedBy: diesOf, how: `was killed by ${diesOf}` })
            ended.resolve(lost.message)
            throw lost
          }
          const { text, ...piece } = pieces[count] ?? {}
          count += 1
          yield text === undefined ? piece : { ...piece, text: stops.take(text) }
        }
        if (!stops.isStopped()) yield { text: stops.finish() }
      } finally {
        leaveSlot()
      }
      const hasCalls = pieces.some(({ toolCall }) => toolCall)
      return {
        reason:
          count < pieces.length && !stops.isStopped() ? 'length' : hasCalls ? 'tool_calls' : 'stop',
        stopString: stops.found(),
        promptTokens: prompt.length,
        cachedTokens: 0,
        completionTokens: count,
        reasoningTokens: pieces.slice(0, count).filter(({ reasoning }) => reasoning).length,
        firstTokenMs: 1,
        generationMs: 2,
      }
    },

    async embed(texts) {
      const vectors = texts.map((text) => {
        const angle = String(text).length
        return Float32Array.of(Math.cos(angle), Math.sin(angle))
      })
      return { vectors, promptTokens: texts.length * 2, truncated: [] }
    },

    /** The score of a document is the share of the query's words that it contains. */
    async rank(pairs) {
      const scores = pairs.map(([query, document]) => {
        const words = query.split(' ')
        return words.filter((word) => document.includes(word)).length / words.length
      })
      return { scores, promptTokens: pairs.length * 4, truncated: [] }
    },
  }
}

function splitWords(prompt: Prompt): string[] {
  if ('tokens' in prompt) return prompt.tokens.map(String)
  if ('gap' in prompt) return [prompt.gap.before, prompt.gap.after]
  const text =
    'text' in prompt ? prompt.text : prompt.chat.messages.map(({ content }) => content).join(' ')
  return text.split(/\s+/).filter((word) => word !== '')
}
