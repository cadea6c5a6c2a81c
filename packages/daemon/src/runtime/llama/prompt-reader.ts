import type { LlamaModel, Token } from 'node-llama-cpp'
import {
  type Chat,
  type ChatToRender,
  type Generation,
  type Prompt,
  promptError,
} from '../runtime.ts'
import type { ChatsFor } from './open-chats.ts'
import { type CheckTokens, longestToken, type Tokenize } from './tokenizer.ts'

type Setup = {
  chatsFor: ChatsFor
  tokenize: Tokenize
  checkTokens: CheckTokens
  contextLength: number
}

/** A prompt's tokens, and the beginning of the answer, which is at the end of the prompt. */
export type ReadPrompt = { tokens: Token[]; begun: string }

/**
 * Returns a function that tokenizes a prompt. Its result contains the tokens, the beginning of the answer, and how many
 * tokens the answer may have (`room`).
 */
export function promptReader(
  model: LlamaModel,
  { chatsFor, tokenize, checkTokens, contextLength }: Setup,
) {
  /** A prompt with more characters than this certainly exceeds the context length. */
  const maxCharacters = contextLength * longestToken(model)

  /** Tokenizes a prompt. Returns undefined if the prompt has more than `maxCharacters` characters of text. */
  async function readPrompt(
    { prompt, json }: Pick<Generation, 'prompt' | 'json'>,
    maxCharacters = Number.POSITIVE_INFINITY,
  ): Promise<ReadPrompt | undefined> {
    if ('tokens' in prompt) return { tokens: prompt.tokens as Token[], begun: '' }
    const { text, begun } =
      'text' in prompt
        ? { text: prompt.text, begun: '' }
        : await chatsFor(prompt).prompt(prompt.chat, json !== undefined)
    if (text.length > maxCharacters) return undefined
    return { tokens: await tokenize({ text, addSpecial: true, parseSpecial: true }), begun }
  }

  /** The number of tokens that the answer may have. */
  const roomFor = (read: ReadPrompt | undefined) =>
    read === undefined ? 0 : contextLength - read.tokens.length

  async function read(generation: Generation) {
    const full = await readPrompt(generation, maxCharacters)
    if (full) checkTokens(full.tokens)
    const biased = generation.sampling.logitBias.map(([token]) => token)
    checkTokens(biased, 'logit_bias')
    const isTruncated = roomFor(full) < 1 && generation.truncates
    const prompt = isTruncated ? await truncate(generation, full) : full
    if (prompt === undefined || roomFor(prompt) < 1) {
      const tokens = prompt?.tokens.length ?? `more than ${contextLength}`
      const message = `the prompt has ${tokens} tokens, which leaves no room for an answer: the context length is ${contextLength}`
      throw promptError('context_length_exceeded', message)
    }
    return { ...prompt, room: roomFor(prompt) }
  }

  /** Shortens a prompt until it leaves room for an answer, if possible. */
  async function truncate(
    { prompt, json, maxTokens = Math.ceil(contextLength / 4) }: Generation,
    full: ReadPrompt | undefined,
  ): Promise<ReadPrompt | undefined> {
    const room = Math.min(maxTokens, Math.ceil(contextLength / 2))
    if (!('chat' in prompt)) return cutBeginning(prompt, full, contextLength - room)
    const starts = prompt.chat.messages.flatMap(({ role }, index) => (role === 'user' ? index : []))
    let best: ReadPrompt | undefined
    // Binary search for the earliest user message from which the rest of the conversation fits.
    for (let low = 0, high = starts.length - 1; low <= high; ) {
      const middle = (low + high) >> 1
      const chat = keepFrom(prompt.chat, starts[middle] ?? 0)
      const shorter = await readPrompt({ prompt: { chat }, json }, maxCharacters)
      const fits = roomFor(shorter) >= room
      if (fits || middle === starts.length - 1) best = shorter
      if (fits) high = middle - 1
      else low = middle + 1
    }
    return best
  }

  /** Keeps the last tokens of a plain text, and the beginning-of-sequence token if the text begins with it. */
  async function cutBeginning(
    prompt: Exclude<Prompt, { chat: Chat }>,
    full: ReadPrompt | undefined,
    maxTokens: number,
  ): Promise<ReadPrompt | undefined> {
    const text = 'text' in prompt ? prompt.text.slice(-maxCharacters) : ''
    const read = full ?? (await readPrompt({ prompt: { text }, json: undefined }))
    if (read === undefined) return undefined
    const { bos } = model.tokens
    const beginning = read.tokens.slice(0, 1).filter((token) => token === bos)
    const rest = read.tokens.slice(beginning.length)
    return { ...read, tokens: [...beginning, ...rest.slice(beginning.length - maxTokens)] }
  }

  return Object.assign(read, {
    /** Returns the number of tokens in the prompt, even if it exceeds the context length. */
    async count(prompt: Prompt): Promise<number> {
      return (await readPrompt({ prompt, json: undefined }))?.tokens.length ?? 0
    },
    applyTemplate: async ({ chat, json }: ChatToRender) =>
      (await chatsFor({ chat }).prompt(chat, json !== undefined)).text,
  })
}

/** Drops the messages before `start`, except system messages. */
const keepFrom = (chat: Chat, start: number): Chat => ({
  ...chat,
  messages: chat.messages.filter(({ role }, index) => index >= start || role === 'system'),
})
