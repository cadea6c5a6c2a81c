import { createHash } from 'node:crypto'
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
import { anyObjectGrammar } from '../grammar/json-grammar.ts'
import { withLeadingSpace } from '../grammar/leading-space.ts'
import { schemaConverter } from '../grammar/schema-converter.ts'
import { SchemaError } from '../grammar/schema-error.ts'
import { type PromptCode, promptError, type Sampling } from '../runtime.ts'
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

/** Creates grammars from JSON schemas, and caches them, because programs use the same schema repeatedly. */
export function grammarCache(llama: Llama, model: LlamaModel) {
  const grammars = new LRUCache<string, Promise<LlamaGrammar>>({ max: maxCachedGrammars })
  const convert = schemaConverter()

  async function make(schema: string, { code, isLazy }: GrammarUse): Promise<LlamaGrammar> {
    try {
      const grammar = schema === 'true' ? anyObjectGrammar : await convert(schema)
      return await llama.createGrammar({ grammar: isLazy ? withLeadingSpace(grammar) : grammar })
    } catch (error) {
      throw promptError(code, `the schema: ${reasonFor(error)}`, { cause: error })
    }
  }

  /** Returns a function that starts to apply the schema's grammar to a new text. */
  return async (schema: true | object, use: GrammarUse): Promise<BeginGrammar> => {
    const json = JSON.stringify(schema)
    const key = `${use.code} ${use.isLazy ?? false} ${json}`
    const found = grammars.get(key) ?? make(json, use)
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

/** Starts to apply a grammar to a new text. `source` is the grammar in GBNF. */
export type BeginGrammar = (() => LlamaGrammarEvaluationState) & { source: string }

/** Applies a grammar to calls, from the end of their opening marker to the end of the JSON. */
export function inCalls(begin: BeginGrammar, place: () => CallPlace) {
  let state: LlamaGrammarEvaluationState | undefined
  return () => {
    if (place() === 'before') state ??= begin()
    else if (place() === 'elsewhere') state = undefined
    return state
  }
}

type GrammarUse = {
  /** The error code if no grammar can enforce the schema. */
  code: PromptCode
  /** Whether the grammar starts within the answer, where white space may come first. */
  isLazy?: boolean
}
