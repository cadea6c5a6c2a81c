import type { LlamaModel, Token } from 'node-llama-cpp'
import { promptError, type TextToTokenize } from '../runtime.ts'
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
    const message = `${unknown} is not a token of this model, which has ${count} tokens`
    throw promptError('unknown_token', message, { param })
  }
}

/** Converts between text and tokens. */
export function tokenizer(model: LlamaModel, checkTokens: CheckTokens) {
  return {
    tokenize({ text, addSpecial, parseSpecial }: TextToTokenize): Token[] {
      const tokens = model.tokenize(text, parseSpecial)
      return addSpecial ? withBeginning(model, tokens) : tokens
    },
    tokenBytes(tokens: number[]): number[][] {
      checkTokens(tokens, 'tokens')
      return tokens.map((token) => tokenBytes(model, token as Token))
    },
  }
}

/** Adds the token with which the model's prompts begin, if they do and it is missing. */
export function withBeginning({ tokens: special }: LlamaModel, tokens: Token[]): Token[] {
  const { bos, shouldPrependBosToken } = special
  return shouldPrependBosToken && bos !== null && tokens[0] !== bos ? [bos, ...tokens] : tokens
}
