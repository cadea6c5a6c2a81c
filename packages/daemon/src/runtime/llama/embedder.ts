import {
  InsufficientMemoryError,
  type LlamaEmbeddingContext,
  type LlamaModel,
  type Token,
} from 'node-llama-cpp'
import {
  type Embeddings,
  type EmbedOptions,
  promptError,
  promptTooLong,
  type Ranking,
  type RankOptions,
  type RuntimeOptions,
} from '../runtime.ts'
import { normalize } from '../vectors.ts'
import { type Input, isProbability, rankingInput } from './ranking-input.ts'
import { textEnds } from './text-ends.ts'
import type { CheckTokens, Tokenize } from './tokenizer.ts'

/** llama.cpp's number for mean pooling over all tokens. Generative models' files do not specify a pooling type. */
export const meanPooling = 1
/** llama.cpp's number for the output of a classification head, which models that rank documents have. */
const rankPooling = 4

/** Texts of up to this many tokens can be embedded, if the model's context is that long, however little memory is free. */
const usualTokens = 2048

type Setup = Pick<RuntimeOptions, 'threads' | 'embedding'> & {
  checkTokens: CheckTokens
  tokenize: Tokenize
  /** Called before a text is read, with the number of tokens in the text. */
  onText: (tokens: number) => void
}

/** Whether the model ranks documents. Its output is a score, not an embedding. */
export function isRanker({ fileInfo: { metadata } }: LlamaModel): boolean {
  const own = (metadata as Record<string, unknown>)[metadata.general.architecture]
  return Number((own as { pooling_type?: number } | undefined)?.pooling_type) === rankPooling
}

/** Computes embeddings of texts, or scores of documents, in a separate context that is created on first use. */
export function embedder(
  model: LlamaModel,
  { embedding = {}, threads, checkTokens, tokenize, onText }: Setup,
) {
  const toRankingInput = rankingInput(model, tokenize)
  const ends = textEnds(model)
  const maxTokens = Math.min(
    embedding.maxTokens ?? Number.POSITIVE_INFINITY,
    model.trainContextSize,
  )
  let opened: Promise<Opened> | undefined
  /** Texts are read one at a time, because the context has only one conversation. */
  let last: Promise<unknown> = Promise.resolve()
  /** The number of texts that are being read or wait for their turn. */
  let waiting = 0

  function open(): Promise<Opened> {
    opened ??= openLongest()
    opened.catch(() => {
      opened = undefined
    })
    return opened
  }

  /** Opens a context for texts of `maxTokens` or, if there is too little memory, for half as many, and so on. */
  async function openLongest(): Promise<Opened> {
    for (let tokens = maxTokens; ; tokens = Math.max(usualTokens, Math.floor(tokens / 2))) {
      const isLast = tokens <= usualTokens
      if (!isLast && !(await fits(tokens))) continue
      try {
        // A text must be read in one batch, so that its mean includes all its tokens. The library requires that a
        // context is longer than the text.
        const sizes = { contextSize: tokens + 1, batchSize: tokens + 1 }
        return { context: await model.createEmbeddingContext({ ...sizes, threads }), tokens }
      } catch (error) {
        if (isLast || !(error instanceof InsufficientMemoryError)) throw error
      }
    }
  }

  async function fits(tokens: number): Promise<boolean> {
    const { maxBytes = Number.POSITIVE_INFINITY } = embedding
    const { cpuRam, gpuVram } = await model.fileInsights.estimateContextResourceRequirementsV2({
      contextSize: tokens + 1,
      batchSize: tokens + 1,
      modelGpuLayers: model.gpuLayers,
      isEmbeddingContext: true,
      flashAttention: model.defaultContextFlashAttention,
    })
    // The estimate contains the logits of all tokens once, but the library stores them twice.
    const logitBytes = 4 * tokens * model.fileInfo.metadata.tokenizer.ggml.tokens.length
    return cpuRam + gpuVram + logitBytes <= maxBytes
  }

  /** Returns the tokens of an input, shortened if necessary and allowed. */
  async function fit({ before, text, after, isWhole }: Input, { truncates }: EmbedOptions) {
    const { tokens: max } = await open()
    const excess = before.length + text.length + after.length - max
    const kept = truncates && excess > 0 ? text.slice(0, Math.max(0, text.length - excess)) : text
    const tokens = [...before, ...kept, ...after]
    if (tokens.length > max) {
      throw promptTooLong({ promptTokens: tokens.length, isMinimum: !isWhole, contextLength: max })
    }
    return { tokens, isShortened: kept !== text }
  }

  async function evaluate(tokens: Token[], signal: AbortSignal): Promise<readonly number[]> {
    waiting += 1
    const turn = last.then(async () => {
      signal.throwIfAborted()
      onText(tokens.length)
      const { context } = await open()
      return await context.getEmbeddingFor(tokens)
    })
    last = turn.catch(() => undefined) // a failure does not affect the next text
    try {
      return (await turn).vector
    } finally {
      waiting -= 1
    }
  }

  /** Reads inputs one after another. Passes on the model's output for each. */
  async function readAll(
    inputs: AsyncIterable<Input> | Iterable<Input>,
    options: EmbedOptions & { signal: AbortSignal },
    onOutput: (output: readonly number[]) => void,
  ) {
    let promptTokens = 0
    const truncated: number[] = []
    let index = 0
    for await (const input of inputs) {
      const { tokens, isShortened } = await fit(input, options)
      onOutput(await evaluate(tokens, options.signal))
      promptTokens += tokens.length
      if (isShortened) truncated.push(index)
      index += 1
    }
    return { promptTokens, truncated }
  }

  async function* toInputs(texts: (string | number[])[]): AsyncGenerator<Input> {
    for (const text of texts) {
      if (typeof text !== 'string') {
        checkTokens(text)
        yield { ...ends.add(text as Token[]), isWhole: true }
        continue
      }
      const asText = { text, addSpecial: false, parseSpecial: false }
      const { tokens, isWhole } = await tokenize(asText, (await open()).tokens)
      yield { ...ends.add(tokens), isWhole }
    }
  }

  async function* toRankingInputs(pairs: [query: string, document: string][]) {
    const { tokens } = await open()
    for (const [query, document] of pairs) {
      yield await toRankingInput(query, document, tokens)
    }
  }

  return {
    /** The maximum number of tokens in a text, if there is enough memory. */
    maxTokens,

    async embed(
      texts: (string | number[])[],
      signal: AbortSignal,
      options: EmbedOptions = {},
    ): Promise<Embeddings> {
      if (isRanker(model)) throw promptError('not_embedding', ranksOnly)
      const vectors: Float32Array[] = []
      const onOutput = (output: readonly number[]) => vectors.push(normalize(output))
      return { vectors, ...(await readAll(toInputs(texts), { ...options, signal }, onOutput)) }
    },

    async rank(
      pairs: [query: string, document: string][],
      signal: AbortSignal,
      { isRaw, ...options }: RankOptions = {},
    ): Promise<Ranking> {
      if (!isRanker(model)) throw promptError('not_ranking', 'this model cannot rank documents')
      const toScore = isRaw || isProbability(model) ? (score: number) => score : sigmoid
      const scores: number[] = []
      const onOutput = ([score = 0]: readonly number[]) => scores.push(toScore(score))
      const inputs = toRankingInputs(pairs)
      return { scores, ...(await readAll(inputs, { ...options, signal }, onOutput)) }
    },

    /** Frees the memory of the context, unless it is in use. The next text opens it again. */
    async close() {
      if (waiting > 0) return
      const former = opened
      opened = undefined
      const closed = former?.then(({ context }) => context.dispose())
      last = Promise.resolve(closed).catch(() => undefined)
      await closed
    },
  }
}

const ranksOnly = 'this model ranks documents, and creates no embeddings: use /v1/rerank'

/** A context, and the maximum number of tokens in a text. */
type Opened = { context: LlamaEmbeddingContext; tokens: number }

const sigmoid = (logit: number) => 1 / (1 + Math.exp(-logit))
