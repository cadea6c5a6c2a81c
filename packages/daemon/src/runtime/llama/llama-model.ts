/** Runs llama.cpp in this process. Used only in a child process, because a crash of native code ends the process. */

import { jsonCloser } from '@shoal/grammar'
import type { EvaluationPriority, LlamaContextSequence, Token } from 'node-llama-cpp'
import { callSchema, optionalCalls } from '../chat/chat-prompt.ts'
import {
  type Finish,
  type Generation,
  isForced,
  isPromptError,
  type ModelFacts,
  type Piece,
  type Prompt,
  promptError,
  type RuntimeOptions,
} from '../runtime.ts'
import { adaptThreads } from './adapt-threads.ts'
import { answerWriter } from './answer-writer.ts'
import { batchTogether } from './batch-together.ts'
import { betweenBatches } from './between-batches.ts'
import { embedder } from './embedder.ts'
import { isEncoder, loadModel } from './load-model.ts'
import { openChats } from './open-chats.ts'
import { ownSampler } from './own-sampler.ts'
import { openPromptCache } from './prompt-cache.ts'
import { promptReader } from './prompt-reader.ts'
import {
  type BeginGrammar,
  createEvaluation,
  type Evaluation,
  grammarCache,
  inCalls,
} from './sampling.ts'
import { commonLength, slots as newSlots, type Slot } from './slots.ts'
import { tokenText } from './token-text.ts'
import { tokenCheck, tokenizer } from './tokenizer.ts'

/** The number of tokens in each part of a long prompt. Between two parts, the request can be canceled. */
const readAtOnce = 512
/**
 * The context length for embeddings, in tokens. A text is embedded in one batch, so memory is allocated for a batch of
 * this length.
 */
const embeddingTokens = 2048
/** Makes the library return all tokens, with the probabilities that the model assigns to them. */
const unfiltered = { temperature: 1, topK: 0, topP: 1, minP: 0, yieldEogToken: true }

type Sampler = {
  evaluation: Evaluation
  lazy: BeginGrammar | undefined
  /** The grammar of the answer, if the entire answer must be JSON. */
  grammar: string | undefined
}

type Watch = {
  /** Called for each batch with its number of conversations, and with the number of threads of the previous batch. */
  onBatch?: (conversations: number, lastThreads: number) => void
  /** Replaces the measurement of the machine's free cores. */
  freeCores?: () => number | undefined
}

/** Loads a model, and answers requests with it. */
export async function openLlamaModel(options: RuntimeOptions, { onBatch, freeCores }: Watch = {}) {
  const { threads, slots: slotCount } = options
  const { llama, model, templates } = await loadModel(options)
  const contextLength = Math.min(options.contextLength, model.trainContextSize)
  const canGenerate = !isEncoder(model)
  const embeddingContextLength = Math.min(embeddingTokens, contextLength)
  const checkTokens = tokenCheck(model)
  const texts = tokenizer(model, checkTokens)
  const adaptation = adaptThreads(llama, options, freeCores)
  const embed = embedder(model, {
    contextLength: embeddingContextLength,
    threads,
    checkTokens,
    tokenize: texts.tokenize,
    onText: (tokens) => adaptation?.begin(0, tokens),
  })
  const facts: ModelFacts = { contextLength, slots: slotCount, canGenerate, embeddingContextLength }
  if (!canGenerate) {
    return {
      ...{ facts, embed, generate: refuseToGenerate, countTokens: refuseToGenerate },
      ...{ applyTemplate: refuseToGenerate, ...texts },
      freeCache: async () => undefined,
    }
  }

  const context = await model.createContext({
    contextSize: contextLength,
    sequences: slotCount,
    threads,
    batchSize: Math.min(readAtOnce, contextLength),
    flashAttention: 'auto',
    batching: {
      itemPrioritizationStrategy: batchTogether(
        () => generating,
        (conversations, tokens) => {
          adaptation?.begin(conversations, tokens)
          onBatch?.(conversations, context.currentThreads)
        },
      ),
    },
  })
  const promptCache = openPromptCache(options.promptCache)
  const slots = newSlots(Array.from({ length: slotCount }, () => context.getSequence()))
  const chatsFor = await openChats(model, templates)
  const grammarFor = grammarCache(llama, model)
  const read = promptReader(model, { chatsFor, ...texts, checkTokens, contextLength })
  const upkeep = betweenBatches()
  /** The number of conversations that will have tokens for the next batch. */
  let generating = 0

  async function* generate(
    generation: Generation,
    signal: AbortSignal,
  ): AsyncGenerator<Piece, Finish> {
    const { tokens, ...reading } = await read(generation)
    const sampler = await samplerFor(generation)
    const slot = await slots.take(tokens, signal)
    try {
      yield {}
      await upkeep.run(() => promptCache.prepare(slot, tokens))
      return yield* answer(slot, tokens, { generation, ...sampler, signal, ...reading })
    } finally {
      slots.release(slot)
    }
  }

  async function samplerFor(generation: Generation): Promise<Sampler> {
    const { sampling, json, prompt } = generation
    const call = forcedCall(prompt)
    const schema = call ?? json
    const lazy = schema === undefined ? await callGrammar(generation) : undefined
    const evaluation = createEvaluation(sampling, model, (schema ?? lazy) !== undefined)
    if (schema === undefined) return { evaluation, lazy, grammar: undefined }
    const source = schema === true ? schema : { schema }
    const begin = await grammarFor(source, call ? 'tool_refused' : 'schema_refused')
    evaluation.grammarEvaluationState = begin()
    return { evaluation, lazy, grammar: begin.source }
  }

  function forcedCall(prompt: Prompt): object | undefined {
    if (!('chat' in prompt)) return undefined
    return isForced(prompt.chat) ? callSchema(prompt.chat, chatsFor(prompt).format) : undefined
  }

  /**
   * The grammar for calls that the model may make; undefined if no grammar can enforce the tools' schemas. Two features
   * also rule out a grammar: stop strings, because they delay the text that shows where a call begins, and log
   * probabilities, because `ownSampler` then chooses the tokens.
   */
  async function callGrammar({ prompt, stop, topLogprobs }: Generation) {
    if (!('chat' in prompt) || stop.length > 0 || topLogprobs !== undefined) return undefined
    const calls = optionalCalls(prompt.chat, chatsFor(prompt).format)
    if (calls === undefined) return undefined
    return grammarFor({ calls }, 'tool_refused').catch((error) => {
      if (isPromptError(error)) return undefined
      throw error
    })
  }

  type Answer = Sampler & {
    generation: Generation
    /** The beginning of the answer, which is in the prompt. */
    begun: string
    room: number
    signal: AbortSignal
  }

  async function* answer(
    slot: Slot,
    tokens: Token[],
    { generation, evaluation, lazy, grammar, begun, room, signal }: Answer,
  ): AsyncGenerator<Piece, Finish> {
    const startedAt = performance.now()
    const { sequence } = slot
    const cachedTokens = await forgetFrom(slot, tokens)
    const unread = await readAhead(sequence, tokens.slice(cachedTokens), signal)
    const wants = { probabilities: generation.topLogprobs !== undefined } as { probabilities: true }
    // With a grammar, the library must choose the token, because it checks tokens against the grammar.
    const isOwnChoice = wants.probabilities && !evaluation.grammarEvaluationState
    const choose = isOwnChoice ? ownSampler(generation.sampling) : undefined
    const { format, markers } = chatsFor(generation.prompt)
    const writer = answerWriter(generation, { model, format, markers, begun })
    const steps = sequence.evaluateWithMetadata(unread, wants, {
      ...evaluation,
      ...(lazy && { grammarEvaluationState: inCalls(lazy, writer.callPlace) }),
      ...(choose && unfiltered),
      evaluationPriority: slot.index as EvaluationPriority,
    })
    const maxTokens = Math.min(generation.maxTokens ?? Number.POSITIVE_INFINITY, room)
    /** The token that replaces the library's choice. */
    let chosen: Token | undefined
    let firstTokenMs = 0
    let isCut = false
    const isCall = forcedCall(generation.prompt) !== undefined
    const closer = grammar === undefined ? undefined : openCloser(grammar)
    let pieces = writer.begin()
    generating += 1
    try {
      while (!writer.isOver()) {
        if (writer.tokenCount() === maxTokens) {
          isCut = !(isCall && closer?.closing().text === '')
          break
        }
        // The next token is computed while the pieces of the previous one are sent.
        const nextStep = upkeep.turn().then(() => steps.next(chosen))
        nextStep.catch(() => undefined) // rejects below, unless the client has disconnected
        yield* pieces
        pieces = []
        const step = await nextStep
        adaptation?.end()
        signal.throwIfAborted()
        if (step.done) break
        const { probabilities } = step.value
        const token = choose ? choose(probabilities) : step.value.token
        if (choose && model.isEogToken(token)) break
        chosen = choose && token
        if (writer.tokenCount() === 0) firstTokenMs = performance.now() - startedAt
        if (closer && !closer.allows(token, maxTokens - writer.tokenCount() - 1)) {
          const { text, tokens: count } = closer.closing()
          pieces = writer.append(text, count)
          isCut = !isCall // a call that was closed early is complete, but other text is not
          break
        }
        evaluation.generated.push(token)
        pieces = writer.take(token, probabilities)
      }
      yield* pieces
      yield* writer.finish()
    } finally {
      generating -= 1
      await steps.return()
    }
    return {
      reason: isCut ? 'length' : writer.hasCalls() ? 'tool_calls' : 'stop',
      stopString: writer.stopString(),
      promptTokens: tokens.length,
      cachedTokens,
      completionTokens: writer.tokenCount(),
      reasoningTokens: writer.reasoningTokens(),
      firstTokenMs,
      generationMs: performance.now() - startedAt,
    }
  }

  function openCloser(grammar: string) {
    const text = tokenText((some, before) =>
      model.detokenize(some as Token[], false, before as Token[]),
    )
    const closer = jsonCloser(grammar, (some) => model.tokenize(some).length)
    return {
      allows: (token: Token, tokensLeft: number) => closer.allows(text.take(token), tokensLeft),
      closing: closer.closing,
    }
  }

  /**
   * Removes from the slot everything after the prefix that it has in common with `tokens`. Returns the number of tokens
   * that are left in the slot.
   */
  async function forgetFrom(slot: Slot, tokens: Token[]): Promise<number> {
    const { sequence } = slot
    const common = commonLength(slot, tokens)
    if (common < sequence.nextTokenIndex) {
      await upkeep.run(() => sequence.adaptStateToTokens(tokens.slice(0, common), false))
    }
    return sequence.nextTokenIndex
  }

  /**
   * Processes a prompt in parts, so that a canceled request stops soon. Leaves the last part unprocessed, and returns
   * its tokens.
   */
  async function readAhead(sequence: LlamaContextSequence, tokens: Token[], signal: AbortSignal) {
    let rest = tokens
    while (rest.length > readAtOnce) {
      await upkeep.turn()
      generating += 1
      try {
        await sequence.evaluateWithoutGeneratingNewTokens(rest.slice(0, readAtOnce))
      } finally {
        generating -= 1
      }
      signal.throwIfAborted()
      rest = rest.slice(readAtOnce)
    }
    return rest
  }

  return {
    ...{ facts, embed, generate, countTokens: read.count, applyTemplate: read.applyTemplate },
    ...{ ...texts, freeCache: promptCache.clear },
  }
}

function refuseToGenerate(): never {
  throw promptError('not_generative', 'this model only creates embeddings')
}
