import { setImmediate } from 'node:timers/promises'
import type { LlamaModel, Token } from 'node-llama-cpp'
import { promptError, type TextToTokenize } from '../runtime.ts'
import { type BlockLengths, textBlocks } from './text-blocks.ts'
import { tokenBytes } from './token-bytes.ts'

/**
 * Throws an error if one of the tokens is not in the model's vocabulary, because llama.cpp may crash on such a token.
 * `param` is the name of the parameter that contains the tokens.
 */
export type CheckTokens = (tokens: readonly number[], param?: string) => void

export function tokenCheck(model: LlamaModel): CheckTokens {
  const count = model.fileInfo.metadata.tokenizer.ggml.tokens.length
  return (tokens, param) => {
    const unknown = tokens.find(
      (token) => !(Number.isInteger(token) && token >= 0 && token < count),
    )
    if (unknown === undefined) return
    const message = `${unknown} is not a token ID of this model, which has ${count} tokens`
    throw promptError('unknown_token', message, { param })
  }
}

/** The number of tokens between two pauses, during which other requests to this model continue. */
const tokensAtOnce = 4096

/** Converts between text and tokens. */
export function tokenizer(model: LlamaModel, checkTokens: CheckTokens, lengths?: BlockLengths) {
  const lead = findLead(model)
  const cut = textBlocks(controlTokens(model), { cutsWords: lead !== undefined, lengths })
  let lastPause: Promise<void> = Promise.resolve()

  /** Lets other requests continue. If several texts are tokenized concurrently, they take turns. */
  const pause = () => {
    lastPause = lastPause.then(() => setImmediate())
    return lastPause
  }

  /** Tokenizes a text, or only its beginning if that has more than `maxTokens` tokens. */
  async function tokenizeBeginning(
    { text, addSpecial, parseSpecial }: TextToTokenize,
    maxTokens = Number.POSITIVE_INFINITY,
  ): Promise<Beginning> {
    const blocks: Token[][] = []
    let [tokenCount, length] = [0, 0]
    for (const { text: block, isContinuation } of cut(text, parseSpecial)) {
      if (tokenCount > maxTokens) break
      if (blocks.length > 0) await pause()
      const tokens =
        lead && isContinuation
          ? model.tokenize(lead.text + block, parseSpecial).slice(lead.tokenCount)
          : model.tokenize(block, parseSpecial)
      blocks.push(tokens)
      tokenCount += tokens.length
      length += block.length
    }
    const tokens = addSpecial ? withBeginning(model, blocks.flat()) : blocks.flat()
    const isWhole = length === text.length
    return {
      tokens,
      isWhole,
      totalTokens: isWhole ? tokens.length : Math.ceil((tokens.length * text.length) / length),
    }
  }

  return {
    tokenizeBeginning,
    tokenize: async (text: TextToTokenize): Promise<Token[]> =>
      (await tokenizeBeginning(text)).tokens,

    async tokenBytes(tokens: number[]): Promise<number[][]> {
      checkTokens(tokens, 'tokens')
      const bytes: number[][] = []
      for (const token of tokens) {
        bytes.push(tokenBytes(model, token as Token))
        if (bytes.length % tokensAtOnce === 0) await pause()
      }
      return bytes
    },
  }
}

/** The tokens of a text or of its beginning. If `isWhole` is false, `totalTokens` is an estimate. */
export type Beginning = { tokens: Token[]; isWhole: boolean; totalTokens: number }

/** Converts text to tokens. */
export type Tokenize = ReturnType<typeof tokenizer>['tokenizeBeginning']

/**
 * Returns a prefix with which the continuation of a text can be tokenized separately. After this prefix, the
 * continuation has the same tokens as within the entire text. The prefix is often empty. It is a newline for tokenizers
 * that insert a space at the beginning of each text, but not after a newline. Returns undefined if there is no such
 * prefix, or if the vocabulary has tokens that contain the end of one word and the beginning of the next.
 */
function findLead(model: LlamaModel): { text: string; tokenCount: number } | undefined {
  // Vocabularies represent a space as itself, as "▁", or as "Ġ", and a newline as itself or as "Ċ".
  const combinesWords = /[a-zA-Z][ ▁Ġ]|[\nĊ][a-zA-Z]/
  if (tokensOfType(model, (type) => type !== controlType).some((one) => combinesWords.test(one)))
    return undefined
  const tokensOf = (text: string) => model.tokenize(text, true)
  const expected = tokensOf('hello world').slice(tokensOf('hello').length).join()
  return ['', '\n']
    .map((text) => ({ text, tokenCount: tokensOf(text).length }))
    .find(({ text, tokenCount }) => tokensOf(`${text} world`).slice(tokenCount).join() === expected)
}

/**
 * The maximum number of bytes of text that one token can stand for. Infinite for tokenizers that drop whitespace, or
 * have one token for all words that are not in the vocabulary (WordPiece, Unigram).
 */
export function longestTokenBytes({ fileInfo }: LlamaModel): number {
  const { model: kind, tokens } = fileInfo.metadata.tokenizer.ggml
  if (kind !== 'gpt2' && kind !== 'llama') return Number.POSITIVE_INFINITY
  return tokens.reduce((most, token) => Math.max(most, Buffer.byteLength(token)), 1)
}

/** The type of control tokens in GGUF files (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md). */
const controlType = 3

/** The tokens that are not text, such as the end of a message. */
const controlTokens = (model: LlamaModel) => tokensOfType(model, (type) => type === controlType)

function tokensOfType(model: LlamaModel, isChosen: (type: number) => boolean): string[] {
  const { tokens, token_type: types } = model.fileInfo.metadata.tokenizer.ggml
  return tokens.filter((_, index) => isChosen(Number(types?.[index])))
}

/** Adds the beginning-of-sequence token if the model's prompts must start with it and it is missing. */
export function withBeginning({ tokens: special }: LlamaModel, tokens: Token[]): Token[] {
  const { bos, shouldPrependBosToken } = special
  return shouldPrependBosToken && bos !== null && tokens[0] !== bos ? [bos, ...tokens] : tokens
}
