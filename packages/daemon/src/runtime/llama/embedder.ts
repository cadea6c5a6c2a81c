import type { LlamaEmbeddingContext, LlamaModel, Token } from 'node-llama-cpp'
import { type Embeddings, promptError } from '../runtime.ts'
import { normalize } from '../vectors.ts'
import type { CheckTokens } from './prompt-reader.ts'

/** llama.cpp's number for mean pooling over all tokens. Files of generative models do not name a pooling. */
export const meanPooling = 1

type Setup = {
  contextLength: number
  threads: number
  checkTokens: CheckTokens
  /** Called before a text is read, with the number of its tokens. */
  onText: (tokens: number) => void
}

/** Computes vectors of texts, in a separate context that is created on first use. */
export function embedder(
  model: LlamaModel,
  { contextLength, threads, checkTokens, onText }: Setup,
) {
  let opened: Promise<LlamaEmbeddingContext> | undefined
  /** One text at a time: the context has one conversation. */
  let last: Promise<unknown> = Promise.resolve()

  function open(): Promise<LlamaEmbeddingContext> {
    // A text must be read in one batch for its mean to include all its tokens.
    opened ??= model.createEmbeddingContext({
      contextSize: contextLength,
      batchSize: contextLength,
      threads,
    })
    return opened
  }

  async function embedText(text: string | number[], signal: AbortSignal) {
    if (typeof text !== 'string') checkTokens(text)
    const context = await open()
    const tokens = typeof text === 'string' ? model.tokenize(text) : (text as Token[])
    const tokenCount = context.calculateInputLength(tokens)
    if (tokenCount >= contextLength) {
      throw promptError(
        'context_length_exceeded',
        `the text has ${tokenCount} tokens, and one to embed may have ${contextLength - 1} here`,
      )
    }
    const turn = last.then(() => {
      signal.throwIfAborted()
      onText(tokenCount)
      return context.getEmbeddingFor(tokens)
    })
    last = turn.catch(() => undefined) // does not affect the next one
    return { vector: normalize((await turn).vector), tokenCount }
  }

  return async (texts: (string | number[])[], signal: AbortSignal): Promise<Embeddings> => {
    const vectors: Float32Array[] = []
    let promptTokens = 0
    for (const text of texts) {
      const { vector, tokenCount } = await embedText(text, signal)
      vectors.push(vector)
      promptTokens += tokenCount
    }
    return { vectors, promptTokens }
  }
}
