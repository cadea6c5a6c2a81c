import type { LlamaEmbeddingContext, LlamaModel, Token } from 'node-llama-cpp'
import { type Embeddings, type EmbedOptions, promptTooLong } from '../runtime.ts'
import { normalize } from '../vectors.ts'
import type { CheckTokens, Tokenize } from './tokenizer.ts'

/** llama.cpp's number for mean pooling over all tokens. Generative models' files do not specify a pooling type. */
export const meanPooling = 1

type Setup = {
  contextLength: number
  threads: number
  checkTokens: CheckTokens
  tokenize: Tokenize
  /** Called before a text is read, with the number of tokens in the text. */
  onText: (tokens: number) => void
}

/** Computes embeddings of texts, in a separate context that is created on first use. */
export function embedder(
  model: LlamaModel,
  { contextLength, threads, checkTokens, tokenize, onText }: Setup,
) {
  let opened: Promise<LlamaEmbeddingContext> | undefined
  /** Texts are embedded one at a time, because the context has only one conversation. */
  let last: Promise<unknown> = Promise.resolve()

  function open(): Promise<LlamaEmbeddingContext> {
    // A text must be read in one batch, so that its mean includes all its tokens.
    opened ??= model.createEmbeddingContext({
      contextSize: contextLength,
      batchSize: contextLength,
      threads,
    })
    return opened
  }

  async function embedText(
    text: string | number[],
    signal: AbortSignal,
    { truncates }: EmbedOptions,
  ) {
    if (typeof text !== 'string') checkTokens(text)
    const context = await open()
    const request = { text: String(text), addSpecial: false, parseSpecial: false }
    const { tokens: read, isWhole } =
      typeof text === 'string'
        ? await tokenize(request, contextLength)
        : { tokens: text as Token[], isWhole: true }
    let tokens = read
    let tokenCount = context.calculateInputLength(tokens)
    if (tokenCount >= contextLength && truncates) {
      tokens = tokens.slice(0, contextLength - 1 - (tokenCount - tokens.length))
      tokenCount = context.calculateInputLength(tokens)
    }
    if (tokenCount >= contextLength) {
      throw promptTooLong({ promptTokens: tokenCount, isMinimum: !isWhole, contextLength })
    }
    const turn = last.then(() => {
      signal.throwIfAborted()
      onText(tokenCount)
      return context.getEmbeddingFor(tokens)
    })
    last = turn.catch(() => undefined) // a failure does not affect the next text
    return { vector: normalize((await turn).vector), tokenCount }
  }

  return async (
    texts: (string | number[])[],
    signal: AbortSignal,
    options: EmbedOptions = {},
  ): Promise<Embeddings> => {
    const vectors: Float32Array[] = []
    let promptTokens = 0
    for (const text of texts) {
      const { vector, tokenCount } = await embedText(text, signal, options)
      vectors.push(vector)
      promptTokens += tokenCount
    }
    return { vectors, promptTokens }
  }
}
