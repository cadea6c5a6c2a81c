/** The objects of OpenAI's answers, as their reference has them. */
import { randomUUID } from 'node:crypto'
import type { Finish, TokenLogprobs } from '../runtime/runtime.ts'

/** What all objects of one answer have in common. */
export function answerHead(prefix: 'chatcmpl' | 'cmpl', model: string) {
  return {
    id: `${prefix}-${randomUUID().replaceAll('-', '')}`,
    created: Math.floor(Date.now() / 1000),
    model,
    system_fingerprint: 'fp_shoal',
  }
}

export type AnswerHead = ReturnType<typeof answerHead>

export function usageOf(finishes: Finish[]) {
  const [first] = finishes
  const promptTokens = first?.promptTokens ?? 0
  const completionTokens = finishes.reduce((sum, one) => sum + one.completionTokens, 0)
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: first?.cachedTokens ?? 0 },
    completion_tokens_details: { reasoning_tokens: 0 },
  }
}

export function logprobsOf(tokens: TokenLogprobs[] | undefined) {
  return tokens ? { content: tokens, refusal: null } : null
}
