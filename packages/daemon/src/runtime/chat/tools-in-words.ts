import type { ChatMessage, Tool, ToolCall } from '../runtime.ts'
import type { CallFormat } from './formats/answer-format.ts'
import { writeCall } from './formats/write-call.ts'

type Options = {
  /** Whether the template supports calls and their results. */
  hasCalls: boolean
  calls: CallFormat
}

/**
 * Describes tools in the system message, for models whose templates do not support tools. Unless the template supports
 * calls, also converts earlier calls and their results to text.
 */
export function toolsInWords(
  messages: ChatMessage[],
  tools: Tool[],
  { hasCalls, calls }: Options,
): ChatMessage[] {
  const plain = hasCalls ? messages : messages.map(inWords)
  if (tools.length === 0) return plain
  const list = tools.map(({ function: declared }) => JSON.stringify(declared)).join('\n')
  const words = `You can call these tools:\n${list}\nTo call one, answer with only ${writeCall(calls, 'its name', '{}')}`
  const [first, ...rest] = plain
  if (first?.role !== 'system') return [{ role: 'system', content: words }, ...plain]
  return [{ ...first, content: `${first.content}\n\n${words}` }, ...rest]

  function inWords({ role, content, tool_calls, tool_call_id: _, ...other }: ChatMessage) {
    if (role === 'tool') {
      return { ...other, role: 'user', content: `<tool_response>${content}</tool_response>` }
    }
    return { ...other, role, content: [content, ...(tool_calls ?? []).map(callInWords)].join('') }
  }

  function callInWords({ function: { name, arguments: args } }: ToolCall): string {
    return writeCall(calls, name, args || '{}')
  }
}
