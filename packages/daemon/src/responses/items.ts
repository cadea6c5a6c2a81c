/** The items of an answer, as defined in the reference of OpenAI's Responses API. */
import { randomBytes } from 'node:crypto'
import type { TokenLogprobs } from '../runtime/runtime.ts'

type Status = 'in_progress' | 'completed' | 'incomplete'

type TextPart = { type: 'output_text'; text: string; annotations: []; logprobs: TokenLogprobs[] }
type ReasoningPart = { type: 'reasoning_text' | 'summary_text'; text: string }

type MessageItem = {
  id: string
  type: 'message'
  role: 'assistant'
  status: Status
  content: TextPart[]
}
type ReasoningItem = {
  id: string
  type: 'reasoning'
  status: Status
  summary: ReasoningPart[]
  content?: ReasoningPart[]
}
type CallItem = {
  id: string
  type: 'function_call'
  call_id: string
  name: string
  /** The namespace in which the request declares the function, if any. */
  namespace?: string
  arguments: string
  status: Status
}
type CustomCallItem = {
  id: string
  type: 'custom_tool_call'
  call_id: string
  name: string
  namespace?: string
  input: string
  status: Status
}
/** A call of the client's search for tools. */
type SearchCallItem = {
  id: string
  type: 'tool_search_call'
  call_id: string
  execution: 'client'
  arguments: object
  status: Status
}
export type OutputItem = MessageItem | ReasoningItem | CallItem | CustomCallItem | SearchCallItem

/**
 * The IDs of responses and items give access to conversations, so they must not be guessable: they have 256 random
 * bits.
 */
export const newId = (prefix: 'resp' | 'msg' | 'rs' | 'fc' | 'ctc' | 'tsc') =>
  `${prefix}_${randomBytes(32).toString('hex')}`
