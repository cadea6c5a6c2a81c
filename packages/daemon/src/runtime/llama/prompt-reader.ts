import type { LlamaModel, Token } from 'node-llama-cpp'
import type { chatPrompts } from '../chat/chat-prompt.ts'
import { type ChatToRender, type Generation, type Prompt, promptError } from '../runtime.ts'
import { withBeginning } from './tokenizer.ts'

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

type Setup = {
  chats: ReturnType<typeof chatPrompts>
  checkTokens: CheckTokens
  contextLength: number
}

/** Tokenizes a prompt. Returns its tokens, the beginning of the answer, and how many tokens the answer may have. */
export function promptReader(model: LlamaModel, { chats, checkTokens, contextLength }: Setup) {
  function tokenize({ prompt, json }: Pick<Generation, 'prompt' | 'json'>): {
    tokens: Token[]
    begun: string
  } {
    if ('tokens' in prompt) return { tokens: prompt.tokens as Token[], begun: '' }
    if ('text' in prompt) {
      return { tokens: withBeginning(model, model.tokenize(prompt.text, true)), begun: '' }
    }
    const { text, begun } = chats.prompt(prompt.chat, json !== undefined)
    return { tokens: withBeginning(model, model.tokenize(text, true)), begun }
  }

  function read(generation: Generation) {
    const { tokens, begun } = tokenize(generation)
    checkTokens(tokens)
    const biased = generation.sampling.logitBias.map(([token]) => token)
    checkTokens(biased, 'logit_bias')
    const room = contextLength - tokens.length
    if (room < 1) {
      throw promptError(
        'context_length_exceeded',
        `the prompt has ${tokens.length} tokens, but the context length is ${contextLength}`,
      )
    }
    return { tokens, begun, room }
  }

  return Object.assign(read, {
    /** Returns the number of the prompt's tokens, even if they are more than the context length. */
    count: (prompt: Prompt) => tokenize({ prompt, json: undefined }).tokens.length,
    applyTemplate: ({ chat, json }: ChatToRender) => chats.prompt(chat, json !== undefined).text,
  })
}
