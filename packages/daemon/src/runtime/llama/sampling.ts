import { createHash } from 'node:crypto'
import { anyObjectGrammar, SchemaError } from '@shoal/grammar'
import { LRUCache } from 'lru-cache'
import {
  type Llama,
  type LlamaGrammar,
  LlamaGrammarEvaluationState,
  type LlamaModel,
  type SequenceEvaluateOptions,
  type Token,
  TokenBias,
} from 'node-llama-cpp'
import type { CallPlace } from '../chat/formats/call-reader.ts'
import { type PromptCode, promptError, type Sampling } from '../runtime.ts'
import { type GrammarSource, grammarConverter } from './grammar-converter.ts'
import { getBiases } from './llama-internals.ts'

export type Evaluation = SequenceEvaluateOptions & { generated: Token[] }

/**
 * The options with which the library chooses the next token. The caller must add each token to `generated`, which the
 * penalties use. `isBound` means that a grammar also constrains the choice.
 */
export function createEvaluation(
  sampling: Sampling,
  model: LlamaModel,
  isBound: boolean,
): Evaluation {
  const generated: Token[] = []
  const { seed, repeatPenalty, repeatLastTokens, presencePenalty, frequencyPenalty } = sampling
  const hasPenalties = repeatPenalty !== 1 || presencePenalty !== 0 || frequencyPenalty !== 0
  const punishTokens = () =>
    repeatLastTokens === undefined ? generated : generated.slice(-repeatLastTokens || Infinity)
  const penalty = repeatPenalty
  return {
    generated,
    temperature: sampling.temperature,
    topP: sampling.topP,
    topK: sampling.topK,
    minP: sampling.minP,
    ...(seed !== undefined && { seed: hashSeed(seed) }),
    ...(hasPenalties && {
      repeatPenalty: { punishTokens, penalty, presencePenalty, frequencyPenalty },
    }),
    ...(sampling.logitBias.length > 0 && { tokenBias: createTokenBias(sampling, model, isBound) }),
  }
}

/** Maps any number to a nonzero 32-bit number, because the library's seeds have 32 bits, and zero means no seed. */
export const hashSeed = (seed: number): number =>
  createHash('sha256').update(String(seed)).digest().readUInt32LE() || 1

function createTokenBias({ logitBias }: Sampling, model: LlamaModel, isBound: boolean): TokenBias {
  const bias = TokenBias.for(model)
  const biases = getBiases(bias)
  for (const [token, logit] of logitBias) {
    // If all tokens that a grammar allows were forbidden, llama.cpp would crash.
    const isForbidden = logit <= -100 && !isBound
    biases.set(token as Token, isForbidden ? Number.NEGATIVE_INFINITY : logit)
  }
  return bias
}

const maxCachedGrammars = 50

/** Creates and caches grammars, because programs use the same schemas and tools repeatedly. */
export function grammarCache(llama: Llama, model: LlamaModel) {
  const grammars = new LRUCache<string, Promise<LlamaGrammar>>({ max: maxCachedGrammars })
  const convert = grammarConverter()

  async function make(source: string, code: PromptCode): Promise<LlamaGrammar> {
    try {
      const grammar = source === 'true' ? anyObjectGrammar : await convert(source)
      return await llama.createGrammar({ grammar })
    } catch (error) {
      throw promptError(code, `the schema: ${reasonFor(error)}`, { cause: error })
    }
  }

  /**
   * Returns a function that starts applying a grammar to new text. The source `true` stands for any JSON object. If
   * no grammar can enforce a schema, rejects with a prompt error whose code is `code`.
   */
  return async (source: true | GrammarSource, code: PromptCode): Promise<BeginGrammar> => {
    const json = JSON.stringify(source)
    const key = `${code} ${json}`
    const found = grammars.get(key) ?? make(json, code)
    grammars.set(key, found)
    const grammar = await found.catch((error) => {
      grammars.delete(key)
      throw error
    })
    const begin = () => new LlamaGrammarEvaluationState({ model, grammar })
    return Object.assign(begin, { source: grammar.grammar })
  }
}

/** Any error is attributed to the schema, because a schema may contain anything. */
function reasonFor(error: unknown): string {
  if (error instanceof SchemaError) return error.message
  if (error instanceof RangeError) return 'it is too large' // such as a call stack overflow
  return `it cannot be converted to a grammar: ${error}`
}

/** See `grammarCache`. */
export type GrammarFor = ReturnType<typeof grammarCache>

/** Starts applying a grammar to new text. `source` is the grammar in GBNF. */
export type BeginGrammar = (() => LlamaGrammarEvaluationState) & { source: string }

/** Applies a grammar to each call, from the end of its opening markers to the end of the call. */
export function inCalls(begin: BeginGrammar, place: () => CallPlace) {
  let state: LlamaGrammarEvaluationState | undefined
  return () => {
    if (place() === 'before') state ??= begin()
    else if (place() === 'elsewhere') state = undefined
    return state
  }
}
