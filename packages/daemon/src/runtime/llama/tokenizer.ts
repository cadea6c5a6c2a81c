import { setImmediate } from 'node:timers/promises'
import type { LlamaModel, Token } from 'node-llama-cpp'
import { forgedTokens } from '../chat/forged-tokens.ts'
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

/** `templates` contains the sources of the chat templates. */
type Options = { templates?: readonly string[]; lengths?: BlockLengths }

/** Converts between text and tokens. */
export function tokenizer(
  model: LlamaModel,
  checkTokens: CheckTokens,
  { templates = [], lengths }: Options = {},
) {
  const lead = findLead(model)
  const cutForged = forgedTokens(structuralTokens(model, templates))
  const cut = textBlocks(controlTokens(model), { cutsWords: lead !== undefined, lengths })
  let lastPause: Promise<void> = Promise.resolve()

  /** Lets other requests continue. If several texts are tokenized concurrently, they take turns. */
  const pause = () => {
    lastPause = lastPause.then(() => setImmediate())
    return lastPause
  }

  /**
   * Tokenizes a text, or only its beginning if that has more than `maxTokens` tokens. No token contains the end of one
   * part of the text and the beginning of the next.
   */
  async function tokenizeParts(
    parts: readonly string[],
    { addSpecial, parseSpecial, maxTokens }: Omit<TextToTokenize, 'text'> & { maxTokens: number },
  ): Promise<Beginning> {
    const blocks: Token[][] = []
    let [tokenCount, length] = [0, 0]
    for (const part of parts) {
      let isWithin = length > 0
      for (const { text, isContinuation } of cut(part, parseSpecial)) {
        if (tokenCount > maxTokens) break
        if (blocks.length > 0) await pause()
        const tokens =
          lead && (isContinuation || isWithin)
            ? model.tokenize(lead.text + text, parseSpecial).slice(lead.tokenCount)
            : model.tokenize(text, parseSpecial)
        blocks.push(tokens)
        tokenCount += tokens.length
        length += text.length
        isWithin = false
      }
    }
    const tokens = addSpecial ? withBeginning(model, blocks.flat()) : blocks.flat()
    const totalLength = parts.reduce((sum, part) => sum + part.length, 0)
    const isWhole = length === totalLength
    return {
      tokens,
      isWhole,
      totalTokens: isWhole ? tokens.length : Math.ceil((tokens.length * totalLength) / length),
    }
  }

  const tokenizeBeginning = (
    { text, ...options }: TextToTokenize,
    maxTokens = Number.POSITIVE_INFINITY,
  ) => tokenizeParts([text], { ...options, maxTokens })

  return {
    tokenizeBeginning,
    tokenize: async (text: TextToTokenize): Promise<Token[]> =>
      (await tokenizeBeginning(text)).tokens,

    /** Tokenizes a shielded prompt (`shield.ts`). Only the template's own text is parsed as special tokens. */
    tokenizeChat: (shielded: string, maxTokens = Number.POSITIVE_INFINITY) =>
      tokenizeParts(cutForged(shielded), { addSpecial: true, parseSpecial: true, maxTokens }),

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
/** Converts a chat's prompt to tokens. */
export type TokenizeChat = ReturnType<typeof tokenizer>['tokenizeChat']

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

/** The types of tokens in GGUF files (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md). */
const [unknownType, controlType, userDefinedType] = [2, 3, 4]

/**
 * The tokens that must not come from a value in a chat: those that are not text, and user-defined tokens that the
 * template prints. Some models' files declare the markers of turns as user-defined. Other user-defined tokens, such as
 * HTML tags, are text. llama.cpp declares additional tokens as control tokens when it loads a file.
 */
function structuralTokens(model: LlamaModel, templates: readonly string[]): string[] {
  const { tokens, token_type: types } = model.fileInfo.metadata.tokenizer.ggml
  return tokens.filter((token, index) => {
    const type = Number(types?.[index])
    if (type === unknownType || type === controlType) return true
    if (type === userDefinedType && templates.some((source) => source.includes(token))) return true
    return enclosed.test(token) && model.getTokenAttributes(index as Token).control
  })
}

const enclosed = /^[<[].*[>\]]$/

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
