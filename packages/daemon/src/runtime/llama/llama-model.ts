/** llama.cpp in this process. Runs in the child alone: a crash of native code ends the process that it is in. */
import { readGgufFile } from '@shoal/model-file'
import {
  type EvaluationPriority,
  getLlama,
  type Llama,
  type LlamaContextSequence,
  LlamaLogLevel,
  type LlamaModel,
  type Token,
} from 'node-llama-cpp'
import { useBackendsOf } from '../../backends/use-backends.ts'
import type { AnswerFormat } from '../chat/answer-format.ts'
import { type AnswerState, answerParser } from '../chat/answer-parser.ts'
import { callSchema, chatPrompts } from '../chat/chat-prompt.ts'
import {
  type Finish,
  type Generation,
  type ModelFacts,
  type Piece,
  type Prompt,
  PromptError,
  type RuntimeOptions,
} from '../runtime.ts'
import { batchTogether } from './batch-together.ts'
import { embedder, meanPooling } from './embedder.ts'
import { logprobsOf } from './logprobs.ts'
import { type Evaluation, evaluationOf, grammarCache } from './sampling.ts'
import { commonLength, slots as newSlots, type Slot } from './slots.ts'
import { stopStrings } from './stop-strings.ts'
import { tokenText } from './token-text.ts'

/** A long prompt is read so many tokens at a time, and given up between two of them. */
const readAtOnce = 512
/** A text to embed is read in one go, for which its memory has to be there. */
const embeddingTokens = 2048

type Watch = {
  /** Told of how many conversations each batch is. */
  onBatch?: (conversations: number) => void
}

/** Loads a model. Nothing is ever built or downloaded for that. */
export async function openLlamaModel(options: RuntimeOptions, { onBatch }: Watch = {}) {
  const { modelPath, threads, backendsDirectory } = options
  if (backendsDirectory !== undefined) useBackendsOf(backendsDirectory)
  /** The first is the reason; those after it say that there was one. */
  let complaint: string | undefined
  const llama = await getLlama({
    build: 'never',
    skipDownload: true,
    gpu: 'auto',
    logLevel: LlamaLogLevel.error,
    logger(_level, message) {
      complaint ??= message.trim()
    },
    progressLogs: false,
    maxThreads: threads,
  })
  const model = await loadModel(llama, modelPath).catch((error) => {
    throw complaint === undefined ? error : new Error(complaint, { cause: error })
  })
  const contextLength = Math.min(options.contextLength, model.trainContextSize)
  const canGenerate = !isEncoder(model)
  const embeddingContextLength = Math.min(embeddingTokens, contextLength)
  const vocabularySize = model.fileInfo.metadata.tokenizer.ggml.tokens.length
  const embed = embedder(model, { contextLength: embeddingContextLength, threads })
  const facts: ModelFacts = {
    contextLength,
    slots: options.slots,
    canGenerate,
    embeddingContextLength,
  }
  if (!canGenerate) return { facts, embed, generate: refuseToGenerate }

  const context = await model.createContext({
    contextSize: contextLength,
    sequences: options.slots,
    threads,
    batchSize: Math.min(readAtOnce, contextLength),
    flashAttention: 'auto',
    batching: { itemPrioritizationStrategy: batchTogether(() => generating, onBatch) },
  })
  const slots = newSlots(Array.from({ length: options.slots }, () => context.getSequence()))
  const { bosString, eosString } = model.tokens
  const chats = chatPrompts(templateOf(model), { bos: bosString ?? '', eos: eosString ?? '' })
  const markers = markerTokens(model, chats.format)
  const grammarFor = grammarCache(llama, model)
  /** Conversations that will ask for another token. */
  let generating = 0

  /** The tokens of a prompt, and what the answer begins with. */
  function read({ prompt, json }: Generation): { tokens: Token[]; beginsIn: AnswerState } {
    if ('tokens' in prompt) return { tokens: prompt.tokens as Token[], beginsIn: 'text' }
    if ('text' in prompt) {
      return { tokens: withBeginning(model.tokenize(prompt.text)), beginsIn: 'text' }
    }
    const { text, beginsIn } = chats.prompt(prompt.chat, json !== undefined)
    return { tokens: withBeginning(model.tokenize(text, true)), beginsIn }
  }

  function checkTokens(tokens: readonly number[]) {
    const unknown = tokens.find((token) => !(token >= 0 && token < vocabularySize))
    if (unknown === undefined) return
    const message = `${unknown} is no token of this model, which has ${vocabularySize}`
    throw new PromptError('unknown_token', message)
  }

  function withBeginning(tokens: Token[]): Token[] {
    const { bos, shouldPrependBosToken } = model.tokens
    return shouldPrependBosToken && bos !== null && tokens[0] !== bos ? [bos, ...tokens] : tokens
  }

  async function* generate(
    generation: Generation,
    signal: AbortSignal,
  ): AsyncGenerator<Piece, Finish> {
    const { tokens, beginsIn } = read(generation)
    checkTokens([...tokens, ...generation.sampling.logitBias.map(([token]) => token)])
    const room = facts.contextLength - tokens.length
    if (room < 1) {
      throw new PromptError(
        'context_length_exceeded',
        `the prompt has ${tokens.length} tokens, and the context of this model ${facts.contextLength}`,
      )
    }
    const evaluation = await evaluationFor(generation)
    const slot = await slots.take(tokens, signal)
    try {
      return yield* generateIn(slot, tokens, { generation, evaluation, beginsIn, room, signal })
    } finally {
      slots.release(slot)
    }
  }

  async function evaluationFor({ sampling, json, prompt }: Generation): Promise<Evaluation> {
    const evaluation = evaluationOf(sampling, model)
    const call = forcedCall(prompt)
    if (call) {
      evaluation.grammarEvaluationState = await grammarFor(call, 'tool_refused')
    } else if (json !== undefined) {
      evaluation.grammarEvaluationState = await grammarFor(json, 'schema_refused')
    }
    return evaluation
  }

  function forcedCall(prompt: Prompt): object | undefined {
    if (!('chat' in prompt)) return undefined
    const { toolChoice } = prompt.chat
    if (toolChoice === 'auto' || toolChoice === 'none') return undefined
    return callSchema(prompt.chat, chats.format)
  }

  type Run = {
    generation: Generation
    evaluation: Evaluation
    beginsIn: AnswerState
    room: number
    signal: AbortSignal
  }

  async function* generateIn(
    slot: Slot,
    tokens: Token[],
    { generation, evaluation, beginsIn, room, signal }: Run,
  ): AsyncGenerator<Piece, Finish> {
    const startedAt = performance.now()
    const { sequence } = slot
    const { topLogprobs, prompt } = generation
    const cachedTokens = await forgetFrom(slot, tokens)
    const unread = await readAhead(sequence, tokens.slice(cachedTokens), signal)
    const wants = { probabilities: topLogprobs !== undefined } as { probabilities: true }
    const evaluationPriority = slot.index as EvaluationPriority
    const steps = sequence.evaluateWithMetadata(unread, wants, {
      ...evaluation,
      evaluationPriority,
    })

    const most = Math.min(generation.maxTokens ?? Number.POSITIVE_INFINITY, room)
    const isChat = 'chat' in prompt
    const { tools = [], mostCalls } = isChat ? prompt.chat : {}
    const text = tokenText((some, before) =>
      model.detokenize(some as Token[], isChat && some.some(isMarker), before as Token[]),
    )
    const stops = stopStrings(generation.stop)
    const hasTools = tools.length > 0
    const parser = answerParser(chats.format, { beginsIn, hasTools, mostCalls })
    let completionTokens = 0
    let reasoningTokens = 0
    let firstTokenMs = 0
    let isCut = false
    generating += 1
    try {
      for (;;) {
        if (completionTokens === most) {
          isCut = true
          break
        }
        const step = await steps.next()
        signal.throwIfAborted()
        if (step.done) break
        if (completionTokens === 0) firstTokenMs = performance.now() - startedAt
        completionTokens += 1
        const { token, probabilities } = step.value
        evaluation.generated.push(token)
        const pieces = parser.take(stops.take(text.take(token)))
        if (parser.isThinking()) reasoningTokens += 1
        if (topLogprobs !== undefined && probabilities) {
          const logprobs = [logprobsOf(model, token, probabilities, topLogprobs)]
          pieces[0] = { ...pieces[0], logprobs }
        }
        yield* pieces
        if (stops.isStopped() || parser.hasEnough()) break
      }
      const rest = stops.take(text.finish()) + (stops.isStopped() ? '' : stops.finish())
      yield* parser.take(rest)
      yield* parser.finish()
    } finally {
      generating -= 1
      await steps.return()
    }
    const end = parser.callCount() > 0 ? 'tool_calls' : 'stop'
    return {
      reason: isCut ? 'length' : end,
      promptTokens: tokens.length,
      cachedTokens,
      completionTokens,
      reasoningTokens,
      firstTokenMs,
      generationMs: performance.now() - startedAt,
      tokens: [...tokens, ...evaluation.generated],
    }
  }

  const isMarker = (token: number) => markers.has(token as Token)

  /** Takes from the slot what is not the beginning of these tokens. Answers how many it keeps. */
  async function forgetFrom(slot: Slot, tokens: Token[]): Promise<number> {
    const { sequence } = slot
    const common = commonLength(slot, tokens)
    if (common < sequence.nextTokenIndex) {
      await sequence.adaptStateToTokens(tokens.slice(0, common), false)
    }
    return sequence.nextTokenIndex
  }

  /** Reads a prompt but for its end, in parts, so that nobody waits long for a request that was cancelled. */
  async function readAhead(sequence: LlamaContextSequence, tokens: Token[], signal: AbortSignal) {
    let rest = tokens
    while (rest.length > readAtOnce) {
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

  return { facts, embed, generate }
}

function refuseToGenerate(): AsyncGenerator<Piece, Finish> {
  throw new PromptError('not_generative', 'this model makes embeddings and no text')
}

async function loadModel(llama: Llama, modelPath: string): Promise<LlamaModel> {
  // Read by our own parser first: llama.cpp may crash where a file is not what it says.
  const { metadata } = await readGgufFile(modelPath)
  const architecture = String(metadata.get('general.architecture'))
  const hasPooling = metadata.has(`${architecture}.pooling_type`)
  const metadataOverrides = { [architecture]: { pooling_type: meanPooling } }
  return llama.loadModel({ modelPath, ...(!hasPooling && { metadataOverrides }) })
}

/** BERT and its kind: made to be read whole, in both directions. */
function isEncoder({ fileInfo: { metadata } }: LlamaModel): boolean {
  const { architecture } = metadata.general
  const own = (metadata as Record<string, unknown>)[architecture] as
    | { attention?: { causal?: boolean } }
    | undefined
  return own?.attention?.causal === false || architecture.includes('bert')
}

function templateOf({ fileInfo }: LlamaModel): string | undefined {
  const template = fileInfo.metadata.tokenizer?.chat_template
  return typeof template === 'string' ? template : undefined
}

/** The tokens of marks in an answer. Control tokens have no text of their own otherwise. */
function markerTokens(model: LlamaModel, { reasoning, calls }: AnswerFormat): Set<Token> {
  const marks = [reasoning?.open, reasoning?.close, calls.open, calls.close, ...calls.inner]
  const tokens = marks.flatMap((mark) => {
    const [token, ...more] = mark ? model.tokenize(mark, true) : []
    return token === undefined || more.length > 0 ? [] : [token]
  })
  return new Set(tokens)
}
