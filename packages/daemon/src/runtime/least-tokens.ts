import type { Prompt } from './runtime.ts'

/**
 * Returns a number of tokens that a prompt certainly has, without rendering or tokenizing it. No token has more than
 * `longestTokenBytes` bytes. A template prints each message with at least one token, and prints the entire text of all
 * messages except earlier answers, from which some templates remove the reasoning.
 */
export function leastTokens(prompt: Prompt, longestTokenBytes: number): number {
  if ('tokens' in prompt) return prompt.tokens.length
  const inText = (text: string) => Math.ceil(Buffer.byteLength(text) / longestTokenBytes)
  if ('text' in prompt) return inText(prompt.text)
  if ('gap' in prompt) return inText(prompt.gap.before) + inText(prompt.gap.after)
  return prompt.chat.messages.reduce(
    (sum, { role, content }) => sum + Math.max(1, role === 'assistant' ? 0 : inText(content)),
    0,
  )
}
