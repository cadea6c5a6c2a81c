/** Responses in the format of Anthropic's Messages API. */
import { randomUUID } from 'node:crypto'
import { isJson } from '../runtime/cut-calls.ts'
import type { Finish, Piece } from '../runtime/runtime.ts'

export type Block =
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'text'; text: string }
  | { type: 'tool_use'; id: string; name: string; input: unknown }

export const newId = (prefix: 'msg' | 'toolu') =>
  `${prefix}_${randomUUID().replaceAll('-', '').slice(0, 24)}`

type PromptTokens = Pick<Finish, 'promptTokens' | 'cachedTokens'>

/** A message without content or stop reason. */
export const emptyMessage = (model: string, prompt: PromptTokens) => ({
  id: newId('msg'),
  type: 'message' as const,
  role: 'assistant' as const,
  model,
  content: [] as Block[],
  stop_reason: null as string | null,
  stop_sequence: null as string | null,
  usage: { ...toInputUsage(prompt), output_tokens: 0 },
})

const toInputUsage = ({ promptTokens, cachedTokens }: PromptTokens) => ({
  input_tokens: promptTokens - cachedTokens,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: cachedTokens,
})

/** Returns the stop reason and the token counts of a finished answer. */
export function toEnding(finish: Finish) {
  const { reason, stopString, completionTokens } = finish
  const stopReasons = { length: 'max_tokens', tool_calls: 'tool_use', stop: 'end_turn' } as const
  const isStopped = reason === 'stop' && stopString !== undefined
  return {
    delta: {
      stop_reason: isStopped ? 'stop_sequence' : stopReasons[reason],
      stop_sequence: isStopped ? stopString : null,
    },
    usage: { ...toInputUsage(finish), output_tokens: completionTokens },
  }
}

export type BlockEvent =
  | { type: 'content_block_start'; index: number; content_block: Block }
  | { type: 'content_block_delta'; index: number; delta: Record<string, string> }
  | { type: 'content_block_stop'; index: number }

/** Converts the parts of one answer to the events of its content blocks. */
export function blockEvents() {
  let index = -1
  let open: Block['type'] | undefined

  function stop(): BlockEvent[] {
    if (open === undefined) return []
    // Clients send the signature back with the reasoning. This daemon's signatures are empty, and are not checked.
    const signature: BlockEvent[] =
      open === 'thinking'
        ? [
            {
              type: 'content_block_delta',
              index,
              delta: { type: 'signature_delta', signature: '' },
            },
          ]
        : []
    open = undefined
    return [...signature, { type: 'content_block_stop', index }]
  }

  function start(block: Block): BlockEvent[] {
    const stopped = stop()
    index += 1
    open = block.type
    return [...stopped, { type: 'content_block_start', index, content_block: block }]
  }

  const add = (type: string, member: string, text: string): BlockEvent[] =>
    text === '' ? [] : [{ type: 'content_block_delta', index, delta: { type, [member]: text } }]

  return {
    take({ text = '', reasoning = '', toolCall, argumentsDelta = '' }: Piece): BlockEvent[] {
      const events: BlockEvent[] = []
      if (reasoning !== '') {
        if (open !== 'thinking') {
          events.push(...start({ type: 'thinking', thinking: '', signature: '' }))
        }
        events.push(...add('thinking_delta', 'thinking', reasoning))
      }
      if (text !== '') {
        if (open !== 'text') events.push(...start({ type: 'text', text: '' }))
        events.push(...add('text_delta', 'text', text))
      }
      if (toolCall) {
        const { name } = toolCall
        events.push(...start({ type: 'tool_use', id: newId('toolu'), name, input: {} }))
      }
      const json = (toolCall?.arguments ?? '') + argumentsDelta
      return [...events, ...add('input_json_delta', 'partial_json', json)]
    },
    finish: stop,
  }
}

/**
 * Joins events into complete blocks. A call that was cut off is dropped, because clients would mistake it for a
 * complete call.
 */
export function joinBlocks(events: readonly BlockEvent[]): Block[] {
  const blocks: Block[] = []
  const inputs: string[] = []
  for (const event of events) {
    const { index } = event
    if (event.type === 'content_block_start') blocks[index] = { ...event.content_block }
    if (event.type !== 'content_block_delta') continue
    const { text = '', thinking = '', partial_json: json = '' } = event.delta
    const block = blocks[index]
    if (block?.type === 'text') block.text += text
    if (block?.type === 'thinking') block.thinking += thinking
    inputs[index] = (inputs[index] ?? '') + json
  }
  return blocks.flatMap((block, index) => {
    if (block.type !== 'tool_use') return block
    const json = inputs[index] ?? ''
    return isJson(json) ? { ...block, input: JSON.parse(json) } : []
  })
}
