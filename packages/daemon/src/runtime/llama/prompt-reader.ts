import type { LlamaModel, Token } from 'node-llama-cpp'
import type { ChatPrompt } from '../chat/begin-answer.ts'
import type { ChatPrompts } from '../chat/chat-prompt.ts'
import { type ChatToRender, type Generation, type Prompt, promptError } from '../runtime.ts'
import { type CheckTokens, longestToken, type Tokenize } from './tokenizer.ts'

type Setup = {
  chats: ChatPrompts
  tokenize: Tokenize
  checkTokens: CheckTokens
  contextLength: number
}

/** Tokenizes a prompt. Returns its tokens, the beginning of the answer, and how many tokens the answer may have. */
export function promptReader(
  model: LlamaModel,
  { chats, tokenize, checkTokens, contextLength }: Setup,
) {
  /** A prompt with more characters than this certainly exceeds the context length. */
  const tooManyCharacters = contextLength * longestToken(model)

  async function render({
    prompt,
    json,
  }: Pick<Generation, 'prompt' | 'json'>): Promise<ChatPrompt | { tokens: Token[] }> {
    if ('tokens' in prompt) return { tokens: prompt.tokens as Token[] }
    return 'text' in prompt
      ? { text: prompt.text, begun: '' }
      : chats.prompt(prompt.chat, json !== undefined)
  }

  async function toTokens(rendered: ChatPrompt | { tokens: Token[] }): Promise<Token[]> {
    if ('tokens' in rendered) return rendered.tokens
    return tokenize({ text: rendered.text, addSpecial: true, parseSpecial: true })
  }

  const tooLong = (tokens: string) =>
    promptError(
      'context_length_exceeded',
      `the prompt has ${tokens} tokens, but the context length is ${contextLength}`,
    )

  async function read(generation: Generation) {
    const rendered = await render(generation)
    if ('text' in rendered && rendered.text.length > tooManyCharacters) {
      throw tooLong(`more than ${contextLength}`) // tokenizing megabytes would delay other requests
    }
    const tokens = await toTokens(rendered)
    const begun = 'text' in rendered ? rendered.begun : ''
    checkTokens(tokens)
    const biased = generation.sampling.logitBias.map(([token]) => token)
    checkTokens(biased, 'logit_bias')
    const room = contextLength - tokens.length
    if (room < 1) throw tooLong(`${tokens.length}`)
    return { tokens, begun, room }
  }

  return Object.assign(read, {
    /** Returns the number of the prompt's tokens, even if they are more than the context length. */
    async count(prompt: Prompt): Promise<number> {
      return (await toTokens(await render({ prompt, json: undefined }))).length
    },
    applyTemplate: async ({ chat, json }: ChatToRender) =>
      (await chats.prompt(chat, json !== undefined)).text,
  })
}
