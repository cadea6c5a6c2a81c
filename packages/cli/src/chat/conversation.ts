/** A conversation and its settings. */
import type { ChatMessage, ChatRequest } from '@shoal/protocol/inference-client'
import { decimalNumber, wholeNumberParser } from '../terminal/units.ts'

export type ChatSettings = Pick<ChatRequest, 'temperature' | 'top_p' | 'max_tokens' | 'seed'>

export type Conversation = {
  system: string | undefined
  /** The alternating messages of the user and the model. */
  turns: ChatMessage[]
  settings: ChatSettings
}

/** The settings that `/set` and the flags of `shoal run` change, by name. */
export const settingNames = {
  temperature: { key: 'temperature', accept: decimalNumber(0, 2) },
  'top-p': { key: 'top_p', accept: decimalNumber(0, 1) },
  'max-tokens': { key: 'max_tokens', accept: wholeNumberParser(1, 1_000_000) },
  seed: { key: 'seed', accept: wholeNumberParser(0, 2 ** 31 - 1) },
} as const

export function createChatRequest(
  model: string,
  { system, turns, settings }: Conversation,
): ChatRequest {
  const first: ChatMessage[] = system ? [{ role: 'system', content: system }] : []
  return { model, messages: [...first, ...turns], ...settings }
}
