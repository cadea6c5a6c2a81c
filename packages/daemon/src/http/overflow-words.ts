/**
 * The messages with which each API reports a prompt that does not fit in the context. Agents recognize these messages,
 * and then shorten the conversation and try again.
 */
import type { Overflow } from '@shoal/core/errors'

const count = ({ promptTokens, isMinimum }: Overflow) =>
  `${isMinimum ? 'at least ' : ''}${promptTokens}`

/** A prompt may have this many tokens. The answer needs at least one token. */
const maxTokens = ({ contextLength }: Overflow) => contextLength - 1

/** OpenAI's message for chat completions, with the words of its message for responses. */
export const openaiOverflow = (overflow: Overflow) =>
  `This model's maximum context length is ${overflow.contextLength} tokens. However, your messages resulted in ${count(overflow)} tokens, which exceeds the context window of this model. Please reduce the length of the messages.`

/** Anthropic's message. Claude Code reads both numbers from it. */
export const anthropicOverflow = (overflow: Overflow) =>
  `prompt is too long: ${count(overflow)} tokens > ${maxTokens(overflow)} maximum`

/** The messages of Ollama's current version and of an older one. Some clients recognize only one of the two. */
export function ollamaOverflow(overflow: Overflow): string {
  const excess = overflow.promptTokens - maxTokens(overflow)
  return `the input length exceeds the context length (prompt too long; exceeded max context length by ${excess} tokens: the prompt has ${count(overflow)} tokens, and the context length is ${overflow.contextLength})`
}
