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
import { anyObjectGrammar, jsonGrammar } from '../grammar/json-grammar.ts'
import { SchemaError } from '../grammar/schema-error.ts'
import { type PromptCode, promptError, type Sampling } from '../runtime.ts'
import { getBiases } from './llama-internals.ts'

export type Evaluation = SequenceEvaluateOptions & { generated: Token[] }

/**
 * How the library chooses the next token. The `generated` tokens are recorded for the penalties. `isBound`: a grammar
 * constrains the choice as well.
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

/**
 * The library takes 32 bits, and zero for none. Any number is mapped to that: small and huge ones, negative and
 * positive.
 */
export const hashSeed = (seed: number): number =>
  createHash('sha256').update(String(seed)).digest().readUInt32LE() || 1

function createTokenBias({ logitBias }: Sampling, model: LlamaModel, isBound: boolean): TokenBias {
  const bias = TokenBias.for(model)
  const biases = getBiases(bias)
  for (const [token, logit] of logitBias) {
    // A grammar must not be left without a possible token: llama.cpp would crash.
    const isForbidden = logit <= -100 && !isBound
    biases.set(token as Token, isForbidden ? Number.NEGATIVE_INFINITY : logit)
  }
  return bias
}

const maxCachedGrammars = 50

/** Grammars of JSON schemas, cached because programs repeat the same schema. */
export function grammarCache(llama: Llama, model: LlamaModel) {
  const grammars = new LRUCache<string, LlamaGrammar>({ max: maxCachedGrammars })

  async function make(schema: true | object, code: PromptCode): Promise<LlamaGrammar> {
    try {
      const grammar = schema === true ? anyObjectGrammar : jsonGrammar(schema)
      return await llama.createGrammar({ grammar })
    } catch (error) {
      // Any error is an error of the schema, which may contain anything.
      const why =
        error instanceof SchemaError
          ? error.message
          : `it cannot be converted to a grammar: ${error}`
      throw promptError(code, `the schema: ${why}`, { cause: error })
    }
  }

  /** `code`: the error code for a schema that no grammar can enforce. */
  return async (schema: true | object, code: PromptCode) => {
    const key = JSON.stringify(schema)
    const grammar = grammars.get(key) ?? (await make(schema, code))
    grammars.set(key, grammar)
    return new LlamaGrammarEvaluationState({ model, grammar })
  }
}
