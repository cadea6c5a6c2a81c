import type { LlamaModel, Token } from 'node-llama-cpp'
import { leastTokens } from '../least-tokens.ts'
import {
  type Chat,
  type ChatToRender,
  type Gap,
  type Generation,
  type Prompt,
  promptTooLong,
} from '../runtime.ts'
import type { ChatsFor } from './open-chats.ts'
import { gapReader } from './read-gap.ts'
import {
  type Beginning,
  type CheckTokens,
  longestTokenBytes,
  type Tokenize,
  type TokenizeChat,
} from './tokenizer.ts'

type Setup = {
  chatsFor: ChatsFor
  tokenize: Tokenize
  tokenizeChat: TokenizeChat
  checkTokens: CheckTokens
  contextLength: number
}

/** A prompt's tokens, and the beginning of the answer, which is at the end of the prompt. */
export type ReadPrompt = { tokens: Token[]; begun: string }
type Read = ReadPrompt & Beginning

const whole = (tokens: Token[]): Read => ({
  tokens,
  begun: '',
  isWhole: true,
  totalTokens: tokens.length,
})

/** Up to this number, tokens are counted exactly. This takes about a second. Larger numbers may be estimated. */
const alwaysCounted = 250_000

/**
 * Returns a function that tokenizes a prompt. Its result contains the tokens, the beginning of the answer, and how many
 * tokens the answer may have (`room`).
 */
export function promptReader(
  model: LlamaModel,
  { chatsFor, tokenize, tokenizeChat, checkTokens, contextLength }: Setup,
) {
  const longestBytes = longestTokenBytes(model)
  const readGap = gapReader(model, tokenize)
  /** Longer prompts are not tokenized further, because it is certain that they do not fit. */
  const maxTokens = 2 * contextLength

  /**
   * Tokenizes a prompt, or only its beginning if that has more than `most` tokens. Returns undefined if it is certain
   * beforehand that the prompt does not fit.
   */
  async function readPrompt(
    { prompt, form }: Pick<Generation, 'prompt' | 'form'>,
    most = maxTokens,
  ): Promise<Read | undefined> {
    if ('tokens' in prompt) return whole(prompt.tokens as Token[])
    if (leastTokens(prompt, longestBytes) >= contextLength) return undefined
    if ('gap' in prompt) return { ...(await readGap(prompt.gap, most)), begun: '' }
    if ('text' in prompt) {
      const { text } = prompt
      const read = await tokenize({ text, addSpecial: true, parseSpecial: true }, most)
      return { ...read, begun: '' }
    }
    const { text, begun } = await chatsFor(prompt).prompt(prompt.chat, form)
    return { ...(await tokenizeChat(text, most)), begun }
  }

  /** The number of tokens that the answer may have. */
  const roomFor = (read: Read | undefined) =>
    read === undefined ? 0 : contextLength - read.tokens.length

  async function read(generation: Generation) {
    const full = await readPrompt(generation)
    if (full) checkTokens(full.tokens)
    const biased = generation.sampling.logitBias.map(([token]) => token)
    checkTokens(biased, 'logit_bias')
    const isTruncated = roomFor(full) < 1 && generation.truncates
    const prompt = isTruncated ? await truncate(generation, full) : full
    if (prompt === undefined || roomFor(prompt) < 1) {
      const promptTokens = prompt?.tokens.length ?? leastTokens(generation.prompt, longestBytes)
      throw promptTooLong({ promptTokens, isMinimum: !prompt?.isWhole, contextLength })
    }
    return { ...prompt, room: roomFor(prompt) }
  }

  /** Shortens a prompt until it leaves room for an answer, if possible. */
  async function truncate(
    { prompt, form, maxTokens = Math.ceil(contextLength / 4) }: Generation,
    full: Read | undefined,
  ): Promise<Read | undefined> {
    const room = Math.min(maxTokens, Math.ceil(contextLength / 2))
    if ('gap' in prompt) return full // it makes no sense without the text around the gap
    if (!('chat' in prompt)) return cutBeginning(prompt, full, contextLength - room)
    const starts = prompt.chat.messages.flatMap(({ role }, index) => (role === 'user' ? index : []))
    let best: Read | undefined
    // Binary search for the earliest user message from which the rest of the conversation fits.
    for (let low = 0, high = starts.length - 1; low <= high; ) {
      const middle = (low + high) >> 1
      const chat = keepFrom(prompt.chat, starts[middle] ?? 0)
      const shorter = await readPrompt({ prompt: { chat }, form })
      const fits = roomFor(shorter) >= room
      if (fits || middle === starts.length - 1) best = shorter
      if (fits) high = middle - 1
      else low = middle + 1
    }
    return best
  }

  /** Keeps the last tokens of a plain text, and the beginning-of-sequence token if the text begins with it. */
  async function cutBeginning(
    prompt: Exclude<Prompt, { chat: Chat } | { gap: Gap }>,
    full: Read | undefined,
    count: number,
  ): Promise<Read> {
    const read = full?.isWhole ? full : await readEnd('text' in prompt ? prompt.text : '', count)
    const { bos } = model.tokens
    const beginning = read.tokens.slice(0, 1).filter((token) => token === bos)
    const rest = read.tokens.slice(beginning.length)
    return { ...read, tokens: [...beginning, ...rest.slice(beginning.length - count)] }
  }

  /** Tokenizes the end of a text, which has more than `count` tokens if the text has. */
  async function readEnd(text: string, count: number): Promise<Read> {
    for (let length = 8 * count; ; length *= 2) {
      const end = text.slice(-length)
      const read = await tokenize(
        { text: end, addSpecial: true, parseSpecial: true },
        Number.POSITIVE_INFINITY,
      )
      if (read.tokens.length > count + 1 || end.length === text.length)
        return { ...read, begun: '' }
    }
  }

  return Object.assign(read, {
    /** Returns the number of tokens in the prompt, even if it exceeds the context length by a few times. */
    async count(prompt: Prompt): Promise<number> {
      const read = await readPrompt({ prompt, form: undefined }, Math.max(maxTokens, alwaysCounted))
      if (read) return read.totalTokens
      const promptTokens = leastTokens(prompt, longestBytes)
      throw promptTooLong({ promptTokens, isMinimum: true, contextLength })
    },
    applyTemplate: ({ chat, form }: ChatToRender) => chatsFor({ chat }).text(chat, form),
  })
}

/** Drops the messages before `start`, except system messages. */
const keepFrom = (chat: Chat, start: number): Chat => ({
  ...chat,
  messages: chat.messages.filter(({ role }, index) => index >= start || role === 'system'),
})
