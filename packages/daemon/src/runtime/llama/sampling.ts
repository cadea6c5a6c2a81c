import { createHash } from 'node:crypto'
import { SchemaError } from '@shoal/grammar'
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

export type Evaluation = SequenceEvaluateOptions & {
  history: Token[]
  /** Makes the next token this one; undefined to let the model choose. A grammar may prevent it. */
  force: (token: Token | undefined) => void
}

type Answer = {
  promptTokens: readonly Token[]
  /** Whether a grammar also constrains the answer. */
  isBound: boolean
  /** Whether the caller may force tokens. */
  mayForce: boolean
}

/**
 * The options with which the library chooses the next token. The caller must add each token to `history`, which the
 * penalties use.
 */
export function createEvaluation(
  sampling: Sampling,
  model: LlamaModel,
  { promptTokens, isBound, mayForce }: Answer,
): Evaluation {
  const { repeatPenalty, repeatLastTokens, presencePenalty, frequencyPenalty, xtc, dry } = sampling
  const last = (tokens: readonly Token[], count: number) =>
    tokens.slice(Math.max(0, tokens.length - count))
  const history = last(promptTokens, repeatLastTokens ?? 0)
  const promptCount = history.length
  const hasPenalties = repeatPenalty !== 1 || presencePenalty !== 0 || frequencyPenalty !== 0
  const punishTokens = () => last(history, repeatLastTokens ?? Number.POSITIVE_INFINITY)
  const penalty = repeatPenalty
  let forced: Token | undefined
  return {
    history,
    force(token) {
      forced = token
    },
    temperature: sampling.temperature,
    topP: sampling.topP,
    topK: sampling.topK,
    minP: sampling.minP,
    seed: hashSeed(sampling.seed),
    ...(hasPenalties && {
      repeatPenalty: { punishTokens, penalty, presencePenalty, frequencyPenalty },
    }),
    ...(xtc && { xtc }),
    ...(dry && {
      dryRepeatPenalty: {
        ...dry,
        strength: dry.multiplier,
        // Without a number, the library does not apply the penalty at all.
        lastTokens: Math.min(dry.lastTokens, model.trainContextSize),
      },
    }),
    ...createTokenBias(sampling, {
      ...{ model, isBound, mayForce, forced: () => forced },
      count: () => history.length - promptCount,
    }),
  }
}

/** Maps any number to 31 bits, because the library's seeds have 32 bits, and the largest stands for a random seed. */
export const hashSeed = (seed: number): number =>
  createHash('sha256').update(String(seed)).digest().readUInt32LE() >>> 1

type BiasSetup = {
  model: LlamaModel
  isBound: boolean
  mayForce: boolean
  /** The token that must come next. */
  forced: () => Token | undefined
  /** The number of tokens that have been generated. */
  count: () => number
}

function createTokenBias(
  { logitBias, minTokens = 0 }: Sampling,
  { model, isBound, mayForce, forced, count }: BiasSetup,
): Pick<SequenceEvaluateOptions, 'tokenBias'> {
  const create = (given: Iterable<[token: number, logit: number]>) => {
    const bias = TokenBias.for(model)
    const biases = getBiases(bias)
    for (const [token, logit] of given) {
      // If all tokens that a grammar allows were forbidden, llama.cpp would crash.
      const isForbidden = logit <= forbidden && !isBound
      biases.set(token as Token, isForbidden ? Number.NEGATIVE_INFINITY : logit)
    }
    return bias
  }
  const usual = create(logitBias)
  if (minTokens === 0 && !mayForce) return logitBias.length > 0 ? { tokenBias: usual } : {}
  const ends = minTokens > 0 ? endTokens(model) : []
  const endless = create([
    ...logitBias,
    ...ends.map((token): [number, number] => [token, forbidden]),
  ])
  const chosen = () => {
    const token = forced()
    if (token !== undefined) return create([[token, certain]])
    return count() < minTokens ? endless : usual
  }
  return { tokenBias: chosen }
}

/** A token with this bias is always generated. It exceeds all logits and penalties. */
const certain = 1e6

/** A token with this bias, which is OpenAI's lowest, is never generated. */
const forbidden = -100

const endTokensByModel = new WeakMap<LlamaModel, Token[]>()

/** The tokens that end an answer. Finding them takes a while, because the library can only check one token at a time. */
function endTokens(model: LlamaModel): Token[] {
  const tokens = endTokensByModel.get(model) ?? [
    ...model.iterateAllTokens().filter((token) => model.isEogToken(token)),
  ]
  endTokensByModel.set(model, tokens)
  return tokens
}

const maxCachedGrammars = 50

/** Creates and caches grammars, because programs use the same schemas and tools repeatedly. */
export function grammarCache(llama: Llama, model: LlamaModel) {
  const grammars = new LRUCache<string, Promise<LlamaGrammar>>({ max: maxCachedGrammars })
  const convert = grammarConverter()

  const make = async (source: string): Promise<LlamaGrammar> =>
    await llama.createGrammar({ grammar: await convert(source) })

  /**
   * Returns a function that starts applying a grammar to new text. If no grammar can enforce the source, rejects with a
   * prompt error that has the given code and parameter.
   */
  return async (source: GrammarSource, code: PromptCode, param?: string): Promise<BeginGrammar> => {
    const key = JSON.stringify(source)
    const found = grammars.get(key) ?? make(key)
    grammars.set(key, found)
    const grammar = await found.catch((error) => {
      grammars.delete(key)
      throw promptError(code, `${nameOf(source)}: ${reasonFor(error)}`, { param, cause: error })
    })
    const begin = () => new LlamaGrammarEvaluationState({ model, grammar })
    return Object.assign(begin, { source: grammar.grammar })
  }
}

function nameOf(source: GrammarSource): string {
  if ('gbnf' in source) return 'the grammar'
  if ('pattern' in source) return 'the regular expression'
  return 'choices' in source ? 'the list of choices' : 'the schema'
}

/** Any error is attributed to the source, because a source may contain anything. */
function reasonFor(error: unknown): string {
  if (error instanceof SchemaError) return error.message
  if (error instanceof RangeError) return 'it is too large' // such as a call stack overflow
  return `it cannot be converted to a grammar: ${error}`
}

/** See `grammarCache`. */
export type GrammarFor = ReturnType<typeof grammarCache>

/** Starts applying a grammar to new text. `source` is the grammar in GBNF. */
export type BeginGrammar = (() => LlamaGrammarEvaluationState) & { source: string }

/**
 * Applies a grammar to each call, from the end of its opening markers to the end of the call. The rest of the answer has
 * the grammar `outer`, if there is one, which must allow any text after an opening marker.
 */
export function inCalls(
  begin: BeginGrammar,
  place: () => CallPlace,
  outer: LlamaGrammarEvaluationState | undefined,
) {
  let state: LlamaGrammarEvaluationState | undefined
  return () => {
    if (place() === 'before') state ??= begin()
    else if (place() === 'elsewhere') state = undefined
    return state ?? outer
  }
}
