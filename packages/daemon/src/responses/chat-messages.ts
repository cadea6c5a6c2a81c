/** Converts the items of a conversation to messages in the format that chat templates expect. */
import type { InputItem } from '@shoal/protocol'
import { Fault, unsupported } from '../errors.ts'
import { type MediaSettings, mediaReaders, type ReadMedia } from '../http/media.ts'
import { toArguments } from '../openai/custom-tools.ts'
import { joinText } from '../openai/join-text.ts'
import { type ChatMessage, makeCall } from '../runtime/runtime.ts'

/** Converts items to messages. Consecutive reasoning, text and calls become one assistant message. */
export function toChatMessages(
  instructions: string,
  items: InputItem[],
  media: MediaSettings,
): ChatMessage[] {
  const messages: ChatMessage[] = []
  const toolNames = new Map<string, string>()
  const readers = mediaReaders(items.map(getRole), media)
  if (instructions !== '') messages.push({ role: 'system', content: instructions })
  items.forEach((item, index) => {
    const options = { path: `input.${index}`, toolNames, readMedia: readers(index) }
    const message = toMessage(item, options)
    const last = messages.at(-1)
    const hasOneSystemMessage = messages.length === 1 && last?.role === 'system'
    if (message.role === 'system' && last && hasOneSystemMessage) {
      last.content += `\n\n${message.content}` // many templates accept only one system message
    } else if (
      last?.role === 'assistant' &&
      message.role === 'assistant' &&
      canJoin(last, message)
    ) {
      joinMessages(last, message)
    } else messages.push(message)
  })
  return messages
}

const outputTypes = ['function_call_output', 'custom_tool_call_output', 'tool_search_output']

function getRole({ type, role }: InputItem): string {
  if (type && outputTypes.includes(type)) return 'tool'
  return role ?? 'assistant'
}

type Options = { path: string; toolNames: Map<string, string>; readMedia: ReadMedia }

function toMessage(item: InputItem, { path, toolNames, readMedia }: Options): ChatMessage {
  const { type, role, content, summary, call_id, name, output } = item
  const joinParts = (parts: InputItem['content'], param: string) =>
    joinText(parts, { param, textTypes, readMedia })
  if (type === 'reasoning') {
    const reasoning_content =
      joinParts(content, `${path}.content`) || joinParts(summary, `${path}.summary`)
    return { role: 'assistant', content: '', reasoning_content }
  }
  if (type && callTypes.includes(type)) {
    const id = required(call_id, `${path}.call_id`)
    const called = type === 'tool_search_call' ? 'tool_search' : required(name, `${path}.name`)
    toolNames.set(id, called)
    return {
      role: 'assistant',
      content: '',
      tool_calls: [makeCall(id, called, getArguments(item))],
    }
  }
  if (type && outputTypes.includes(type)) {
    const tool_call_id = required(call_id, `${path}.call_id`)
    const called = toolNames.get(tool_call_id)
    const result =
      type === 'tool_search_output'
        ? formatFound(item)
        : joinParts(required(output, `${path}.output`), `${path}.output`)
    return {
      role: 'tool',
      content: result,
      tool_call_id,
      ...(called !== undefined && { name: called }),
    }
  }
  if (type !== 'message' && type !== undefined && type !== null) {
    throw unsupported(`${path}.type`, `${type} is not supported by this daemon`)
  }
  const given = required(role, `${path}.role`)
  return {
    role: given === 'developer' ? 'system' : given,
    content: joinParts(content, `${path}.content`),
  }
}

const callTypes = ['function_call', 'custom_tool_call', 'tool_search_call']

const getArguments = ({ type, arguments: args, input }: InputItem) =>
  type === 'custom_tool_call' ? toArguments(input ?? '') : args

/** The model sees the found tools among the request's tools, so here it gets only their names. */
function formatFound({ tools }: InputItem): string {
  const names = (tools ?? []).flatMap(
    ({ name, tools: some }) => some?.map((one) => one.name) ?? name,
  )
  return names.length > 0 ? `Found these tools: ${names.join(', ')}` : 'Found no tools'
}

/**
 * Whether `next` can be appended to `message`. Calls can always be appended. Reasoning and text can be appended only if
 * the message consists only of reasoning, because templates print reasoning, text and calls in this order.
 */
function canJoin(message: ChatMessage, next: ChatMessage): boolean {
  if (next.tool_calls) return true
  return message.content === '' && message.tool_calls === undefined
}

function joinMessages(
  message: ChatMessage,
  { content, reasoning_content, tool_calls }: ChatMessage,
) {
  message.content += content
  if (reasoning_content) {
    message.reasoning_content = (message.reasoning_content ?? '') + reasoning_content
  }
  if (tool_calls) message.tool_calls = [...(message.tool_calls ?? []), ...tool_calls]
}

const textTypes = ['input_text', 'output_text', 'text', 'refusal', 'summary_text', 'reasoning_text']

function required<T>(value: T | null | undefined, param: string): T {
  if (value !== undefined && value !== null) return value
  throw new Fault(422, `${param} is required`, { param })
}
