import type { LlamaModel, Token } from 'node-llama-cpp'
import type { TextToTokenize } from '../runtime.ts'
import type { CheckTokens } from './prompt-reader.ts'
import { tokenBytes } from './token-bytes.ts'

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
