import type { LlamaModel, Token } from 'node-llama-cpp'
import type { ChatPrompts } from '../chat/chat-prompt.ts'
import { type ChatToRender, type Generation, type Prompt, promptError } from '../runtime.ts'
import { type CheckTokens, withBeginning } from './tokenizer.ts'

type Setup = {
  chats: ChatPrompts
  checkTokens: CheckTokens
  contextLength: number
}

/** Tokenizes a prompt. Returns its tokens, the beginning of the answer, and how many tokens the answer may have. */
export function promptReader(model: LlamaModel, { chats, checkTokens, contextLength }: Setup) {
  async function tokenize({
    prompt,
    json,
  }: Pick<Generation, 'prompt' | 'json'>): Promise<{ tokens: Token[]; begun: string }> {
    if ('tokens' in prompt) return { tokens: prompt.tokens as Token[], begun: '' }
    if ('text' in prompt) {
      return { tokens: withBeginning(model, model.tokenize(prompt.text, true)), begun: '' }
    }
    const { text, begun } = await chats.prompt(prompt.chat, json !== undefined)
    return { tokens: withBeginning(model, model.tokenize(text, true)), begun }
  }

  async function read(generation: Generation) {
    const { tokens, begun } = await tokenize(generation)
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
    count: async (prompt: Prompt) => (await tokenize({ prompt, json: undefined })).tokens.length,
    applyTemplate: async ({ chat, json }: ChatToRender) =>
      (await chats.prompt(chat, json !== undefined)).text,
  })
}
