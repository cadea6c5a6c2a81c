import type { ChatMessage, Tool, ToolCall } from '../runtime.ts'

/** Describes tools in plain words, for models whose templates do not support tools. */
export function toolsInWords(messages: ChatMessage[], tools: Tool[]): ChatMessage[] {
  const plain = messages.map(inWords)
  if (tools.length === 0) return plain
  const [first, ...rest] = plain
  if (first?.role !== 'system') return [{ role: 'system', content: introduction(tools) }, ...plain]
  return [{ ...first, content: `${first.content}\n\n${introduction(tools)}` }, ...rest]
}

function introduction(tools: Tool[]): string {
  const list = tools.map(({ function: declared }) => JSON.stringify(declared)).join('\n')
  return `You can call these tools:\n${list}\nTo call one, answer with only <tool_call>{"name": "its name", "arguments": {}}</tool_call>`
}

function inWords({ role, content, tool_calls, tool_call_id: _, ...rest }: ChatMessage) {
  if (role === 'tool') {
    return { ...rest, role: 'user', content: `<tool_response>${content}</tool_response>` }
  }
  return { ...rest, role, content: [content, ...(tool_calls ?? []).map(callInWords)].join('') }
}

function callInWords({ function: { name, arguments: args } }: ToolCall): string {
  return `<tool_call>{"name": ${JSON.stringify(name)}, "arguments": ${args || '{}'}}</tool_call>`
}
