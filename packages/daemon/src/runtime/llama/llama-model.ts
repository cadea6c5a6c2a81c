/** Runs llama.cpp in this process. Used only in a child process, because a crash of native code ends the process. */
import { jsonCloser } from '@shoal/grammar'
import type { LlamaModel, Token } from 'node-llama-cpp'
import {
  type Finish,
  type Generation,
  type ModelFacts,
  type Piece,
  promptError,
  type RuntimeOptions,
} from '../runtime.ts'
import { adaptThreads } from './adapt-threads.ts'
import { answerWriter } from './answer-writer.ts'
import { answerConstraints, type Constraints } from './constraints.ts'
import { openConversations } from './conversations.ts'
import { embedder, isRanker } from './embedder.ts'
import { isEncoder, loadModel } from './load-model.ts'
import { openChats } from './open-chats.ts'
import { absolute, candidatesNeeded, ownSampler } from './own-sampler.ts'
import { promptReader, type ReadPrompt } from './prompt-reader.ts'
import { canFillGaps } from './read-gap.ts'
import { reasoningLimit } from './reasoning-limit.ts'
import { grammarCache, inCalls } from './sampling.ts'
import type { Slot } from './slots.ts'
import { tokenText } from './token-text.ts'
import { longestTokenBytes, tokenCheck, tokenizer } from './tokenizer.ts'
import { writeAnswer } from './write-answer.ts'

/** Makes the library return the most likely tokens, with the probabilities that the model assigns to them. */
const unfiltered = {
  ...{ temperature: 1, topP: 1, minP: 0 },
  xtc: { probability: 0, threshold: 1 },
  yieldEogToken: true,
}

type Watch = {
  /** Called for each batch with its number of conversations, and with the number of threads of the previous batch. */
  onBatch?: (conversations: number, lastThreads: number) => void
  /** Replaces the measurement of the machine's free cores. */
  freeCores?: () => number | undefined
}

/** Loads a model, and answers requests with it. */
export async function openLlamaModel(options: RuntimeOptions, { onBatch, freeCores }: Watch = {}) {
  const { threads, slots } = options
  const { llama, model, templates } = await loadModel(options)
  const contextLength = Math.min(options.contextLength, model.trainContextSize)
  const checkTokens = tokenCheck(model)
  const texts = tokenizer(model, checkTokens, {
    templates: Object.values(templates),
  })
  const adaptation = adaptThreads(llama, options, freeCores)
  const { maxTokens, embed, rank, close } = embedder(model, {
    threads,
    embedding: options.embedding,
    checkTokens,
    tokenize: texts.tokenizeBeginning,
    onText: (tokens) => adaptation?.begin(0, tokens),
  })
  const canGenerate = !isEncoder(model) && !isRanker(model)
  const facts: ModelFacts = {
    contextLength,
    slots,
    canGenerate,
    canFillGaps: canFillGaps(model),
    embeddingContextLength: maxTokens,
    longestTokenBytes: longestTokenBytes(model),
  }
  if (!canGenerate) {
    return {
      ...texts,
      facts,
      embed,
      rank,
      generate: refuseToGenerate,
      countTokens: refuseToGenerate,
      applyTemplate: refuseToGenerate,
      freeCache: close,
    }
  }

  const conversations = await openConversations(model, {
    ...options,
    contextLength,
    onBatch(count, tokens, lastThreads) {
      adaptation?.begin(count, tokens)
      onBatch?.(count, lastThreads)
    },
  })
  const chatsFor = await openChats(model, templates)
  const constrain = answerConstraints(model, { chatsFor, grammarFor: grammarCache(llama, model) })
  const read = promptReader(model, {
    chatsFor,
    tokenize: texts.tokenizeBeginning,
    tokenizeChat: texts.tokenizeChat,
    checkTokens,
    contextLength,
  })

  async function* generate(given: Generation, signal: AbortSignal): AsyncGenerator<Piece, Finish> {
    const reasoningBudget = given.reasoningBudget ?? options.reasoningBudget
    const generation = { ...given, reasoningBudget }
    const prompt = await read(generation)
    const constraints = await constrain(generation, prompt)
    const slot = await conversations.take(prompt.tokens, signal)
    try {
      const cachedTokens = await conversations.restore(slot, prompt.tokens)
      yield { prompt: { promptTokens: prompt.tokens.length, cachedTokens } }
      return yield* answer(slot, { generation, prompt, cachedTokens, constraints, signal })
    } finally {
      conversations.release(slot)
    }
  }

  type Request = {
    generation: Generation
    prompt: ReadPrompt & { room: number }
    cachedTokens: number
    constraints: Constraints
    signal: AbortSignal
  }

  async function* answer(
    slot: Slot,
    { generation, prompt, cachedTokens, constraints, signal }: Request,
  ): AsyncGenerator<Piece, Finish> {
    const startedAt = performance.now()
    const unread = await conversations.read(slot, prompt.tokens, signal)
    const { evaluation, calls, state, grammar, isCall } = constraints
    const probabilities = generation.topLogprobs !== undefined
    // With a grammar, the library must choose the token, because it checks tokens against the grammar.
    const isOwnChoice = probabilities && !state
    const choose = isOwnChoice ? ownSampler(generation.sampling) : undefined
    const topK = candidatesNeeded(generation.sampling, generation.topLogprobs ?? 0)
    const wants = { probabilities, topProbability: isOwnChoice && topK > 0 }
    const { format, markers } = chatsFor(generation.prompt)
    const writer = answerWriter(generation, { model, format, markers, begun: prompt.begun })
    const forced = reasoningLimit({
      budget: generation.reasoningBudget ?? -1,
      closing: format.reasoning ? model.tokenize(format.reasoning.close, true) : [],
      writer,
    })
    const tokens = conversations.generate(slot, unread, wants, {
      ...evaluation,
      ...(state && { grammarEvaluationState: state }),
      ...(calls && { grammarEvaluationState: inCalls(calls, writer.callPlace, state) }),
      ...(choose && { ...unfiltered, topK }),
    })
    /** The number of tokens that end the answer, which are not part of its text. */
    let endTokens = 0
    /** The token that replaces the library's choice. */
    let chosen: Token | undefined
    let firstTokenMs = 0

    function endAnswer() {
      endTokens = 1
      return undefined
    }

    async function next() {
      evaluation.force(forced())
      const step = await tokens.next(chosen)
      adaptation?.end()
      signal.throwIfAborted()
      if (writer.tokenCount() === 0) firstTokenMs = performance.now() - startedAt
      if (step.done) return endAnswer()
      const { confidence: best } = step.value
      const probabilities =
        best === undefined ? step.value.probabilities : absolute(step.value.probabilities, best)
      const own = choose?.(probabilities)
      if (own !== undefined && model.isEogToken(own)) return endAnswer()
      chosen = own
      const token = own ?? step.value.token
      evaluation.history.push(token)
      return { token, probabilities }
    }

    let isCut: boolean
    try {
      const maxTokens = Math.min(generation.maxTokens ?? Number.POSITIVE_INFINITY, prompt.room)
      const json = grammar === undefined ? undefined : openCloser(model, grammar)
      isCut = yield* writeAnswer({ writer, maxTokens, isCall, json, next })
    } finally {
      await tokens.end()
    }
    return {
      reason: isCut || writer.isCut() ? 'length' : writer.hasCalls() ? 'tool_calls' : 'stop',
      stopString: writer.stopString(),
      promptTokens: prompt.tokens.length,
      cachedTokens,
      completionTokens: writer.tokenCount() + endTokens,
      reasoningTokens: writer.reasoningTokens(),
      firstTokenMs,
      generationMs: performance.now() - startedAt,
    }
  }

  return {
    ...texts,
    facts,
    embed,
    rank,
    generate,
    countTokens: read.count,
    applyTemplate: read.applyTemplate,
    async freeCache() {
      await Promise.all([conversations.freeCache(), close()])
    },
  }
}

const openCloser = (model: LlamaModel, grammar: string) => ({
  closer: jsonCloser(grammar, (some) => model.tokenize(some).length),
  text: tokenText((some, before) => model.detokenize(some as Token[], false, before as Token[])),
})

function refuseToGenerate(): never {
  throw promptError('not_generative', 'this model only creates embeddings or ranks documents')
}
