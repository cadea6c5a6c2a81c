import type { Piece, TokenLogprobs } from '../runtime/runtime.ts'

/**
 * A part of an answer that is only text, only reasoning, or only a part of one call. The first part of a call has a
 * `name`.
 */
export type Delta = {
  kind: 'text' | 'reasoning' | 'call'
  text: string
  name?: string
  logprobs?: TokenLogprobs[]
}

/** Splits a piece, for APIs in which text, reasoning and each call are separate items. */
export function toDeltas({ text, reasoning, toolCall, argumentsDelta, logprobs }: Piece): Delta[] {
  const deltas: Delta[] = []
  if (reasoning) deltas.push({ kind: 'reasoning', text: reasoning })
  if (text) deltas.push({ kind: 'text', text, ...(logprobs && { logprobs }) })
  if (toolCall) deltas.push({ kind: 'call', name: toolCall.name, text: toolCall.arguments })
  if (argumentsDelta) deltas.push({ kind: 'call', text: argumentsDelta })
  return deltas
}
