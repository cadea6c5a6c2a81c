/**
 * Generates the events of one item in a streamed response, and updates the item. The `added` events contain copies,
 * because the item and its part are changed later.
 */
import { newCallId } from '../openai/answer-parts.ts'
import { toInput } from '../openai/custom-tools.ts'
import { isJson } from '../runtime/cut-calls.ts'
import type { Delta } from './deltas.ts'
import { newId, type OutputItem } from './items.ts'
import type { CallableTool } from './tools.ts'

export type ResponseEvent = { type: string; [member: string]: unknown }

export type ItemOptions = {
  /** Whether the reasoning is sent as a reasoning summary. */
  hasSummary: boolean
  /** The request's tools by name. The calls of tools that are not functions must arrive in one part. */
  tools: ReadonlyMap<string, CallableTool>
}

type Call = Extract<OutputItem, { call_id: string }>

export const isCall = (item: OutputItem): item is Call => 'call_id' in item

export function createItem(
  { kind, name = '' }: Delta,
  { hasSummary, tools }: ItemOptions,
): OutputItem {
  const status = 'in_progress'
  if (kind === 'text') {
    return { id: newId('msg'), type: 'message', role: 'assistant', status, content: [] }
  }
  if (kind === 'reasoning') {
    const id = newId('rs')
    return { id, type: 'reasoning', status, summary: [], ...(!hasSummary && { content: [] }) }
  }
  const { type, namespace } = tools.get(name) ?? {}
  const call = {
    call_id: newCallId(),
    status,
    ...(namespace !== undefined && { namespace }),
  } as const
  if (type === 'custom') {
    return { ...call, id: newId('ctc'), type: 'custom_tool_call', name, input: '' }
  }
  if (type === 'tool_search') {
    const id = newId('tsc')
    return { ...call, id, type: 'tool_search_call', execution: 'client', arguments: {} }
  }
  return { ...call, id: newId('fc'), type: 'function_call', name, arguments: '' }
}

export function* beginItem(item: OutputItem, output_index: number): Generator<ResponseEvent> {
  yield { type: 'response.output_item.added', output_index, item: structuredClone(item) }
  const kind = kindOf(item)
  if (!kind) return
  const part = kind.addPart()
  yield {
    type: `response.${kind.partEvent}.added`,
    output_index,
    ...kind.place,
    part: structuredClone(part),
  }
}

export function* continueItem(
  item: OutputItem,
  output_index: number,
  { text: delta, logprobs = [] }: Delta,
): Generator<ResponseEvent> {
  if (item.type === 'function_call' && delta !== '') {
    item.arguments += delta
    const type = 'response.function_call_arguments.delta'
    yield { type, output_index, item_id: item.id, delta }
    return
  }
  if (item.type === 'custom_tool_call' || item.type === 'tool_search_call') {
    if (!isJson(delta)) item.status = 'incomplete'
    if (item.type === 'tool_search_call') {
      item.arguments = Object(isJson(delta) ? JSON.parse(delta) : {})
      return
    }
    item.input = toInput(delta)
    const type = 'response.custom_tool_call_input.delta'
    yield { type, output_index, item_id: item.id, delta: item.input }
    return
  }
  const kind = kindOf(item)
  const part = kind?.parts[0]
  if (!kind || !part || delta === '') return
  part.text += delta
  if ('logprobs' in part) part.logprobs.push(...logprobs)
  const withLogprobs = 'logprobs' in part && { logprobs }
  yield {
    type: `response.${kind.textEvent}.delta`,
    output_index,
    ...kind.place,
    delta,
    ...withLogprobs,
  }
}

export function* endItem(
  item: OutputItem,
  output_index: number,
  status: 'completed' | 'incomplete',
): Generator<ResponseEvent> {
  if (item.type === 'function_call') {
    const { id: item_id, name, arguments: args } = item
    const type = 'response.function_call_arguments.done'
    yield { type, output_index, item_id, name, arguments: args }
  }
  if (item.type === 'custom_tool_call') {
    const { id: item_id, input } = item
    yield { type: 'response.custom_tool_call_input.done', output_index, item_id, input }
  }
  const kind = kindOf(item)
  const [part] = kind?.parts ?? []
  if (kind && part) {
    const { text } = part
    const withLogprobs = 'logprobs' in part && { logprobs: part.logprobs }
    yield {
      type: `response.${kind.textEvent}.done`,
      output_index,
      ...kind.place,
      text,
      ...withLogprobs,
    }
    yield { type: `response.${kind.partEvent}.done`, output_index, ...kind.place, part }
  }
  item.status = isWhole(item) ? status : 'incomplete'
  yield { type: 'response.output_item.done', output_index, item }
}

/** Whether an item is complete. A call may have been cut off even if further items follow it. */
const isWhole = (item: OutputItem) =>
  item.type === 'function_call' ? isJson(item.arguments) : item.status !== 'incomplete'

/** Returns an item's parts and the names of its events. Returns undefined for a call, which has no parts. */
function kindOf(item: OutputItem) {
  if (isCall(item)) return undefined
  const place = { item_id: item.id, content_index: 0 }
  if (item.type === 'message') {
    const { content } = item
    const addPart = () => {
      const part = { type: 'output_text' as const, text: '', annotations: [] as [], logprobs: [] }
      content.push(part)
      return part
    }
    return { parts: content, addPart, place, textEvent: 'output_text', partEvent: 'content_part' }
  }
  const { content, summary, id } = item
  const type = content ? 'reasoning_text' : 'summary_text'
  const parts = content ?? summary
  const addPart = () => {
    const part = { type, text: '' } as const
    parts.push(part)
    return part
  }
  if (content)
    return { parts, addPart, place, textEvent: 'reasoning_text', partEvent: 'content_part' }
  return {
    parts,
    addPart,
    place: { item_id: id, summary_index: 0 },
    textEvent: 'reasoning_summary_text',
    partEvent: 'reasoning_summary_part',
  }
}
