/** Objects that responses contain, as defined in OpenAI's API reference. */
import { randomUUID } from 'node:crypto'
import type { Fault } from '../errors.ts'
import { toErrorBody } from '../http/error-handler.ts'
import type { Finish, Piece, TokenLogprobs } from '../runtime/runtime.ts'
import { toInput } from './custom-tools.ts'

/** The members that all objects in a response have in common. */
export function answerHead(prefix: 'chatcmpl' | 'cmpl', model: string) {
  return {
    id: `${prefix}-${newId()}`,
    created: Math.floor(Date.now() / 1000),
    model,
    system_fingerprint: 'fp_shoal',
  }
}

export type AnswerHead = ReturnType<typeof answerHead>

/** The last event of a stream that fails. */
export const toFailure = (fault: Fault) => ({ error: toErrorBody(fault).error })

/** Sums the token counts. There are `count` answers to each prompt, but each prompt's tokens are counted only once. */
export function sumUsage(finishes: readonly Finish[], count: number) {
  const firsts = finishes.filter((_, index) => index % count === 0)
  const promptTokens = sum(firsts, (one) => one.promptTokens)
  const completionTokens = sum(finishes, (one) => one.completionTokens)
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: sum(firsts, (one) => one.cachedTokens) },
    completion_tokens_details: { reasoning_tokens: sum(finishes, (one) => one.reasoningTokens) },
  }
}

const sum = (finishes: readonly Finish[], read: (finish: Finish) => number) =>
  finishes.reduce((total, one) => total + read(one), 0)

export function toLogprobs(tokens: TokenLogprobs[] | undefined) {
  return tokens ? { content: tokens, refusal: null } : null
}

export type ToolCall =
  | { id: string; type: 'function'; function: { name: string; arguments: string } }
  | { id: string; type: 'custom'; custom: { name: string; input: string } }

/** `customNames` are the names of the custom tools. The arguments of their calls must be complete. */
export function toToolCall(
  { name, arguments: args }: NonNullable<Piece['toolCall']>,
  customNames: ReadonlySet<string>,
): ToolCall {
  const id = newCallId()
  return customNames.has(name)
    ? { id, type: 'custom', custom: { name, input: toInput(args) } }
    : { id, type: 'function', function: { name, arguments: args } }
}

/** Creates the ID of a tool call. It is shorter than a response's ID, because many chat templates print it. */
export const newCallId = () => `call_${newId()}`

const newId = () => randomUUID().replaceAll('-', '')
