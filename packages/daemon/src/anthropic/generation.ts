/** Converts requests from the format of Anthropic's Messages API to the runtime's format. */
import type { ContentBlock, CountTokensRequest, MessagesRequest } from '@shoal/protocol'
import { Fault, unsupported } from '../errors.ts'
import { refuseFields, unsupportedFields } from '../http/request-fields.ts'
import { toSampling } from '../http/sampling.ts'
import {
  type Chat,
  type ChatMessage,
  type Generation,
  makeCall,
  makeTool,
  type Tool,
} from '../runtime/runtime.ts'

export function createMessagesGeneration(request: MessagesRequest): Generation {
  refuseFields(request, unsupportedFields.messages)
  const format = request.output_config?.format ?? request.output_format
  return {
    prompt: { chat: createMessagesChat(request) },
    maxTokens: request.max_tokens,
    stop: request.stop_sequences ?? [],
    sampling: toSampling(request),
    form: format ? { param: 'output_config.format', schema: format.schema } : undefined,
    topLogprobs: undefined,
  }
}

export function createMessagesChat(request: CountTokensRequest): Chat {
  const { system, messages, thinking, tool_choice, output_config } = request
  const tools = (request.tools ?? []).map(toTool)
  const names = findToolNames(messages)
  const converted = messages.flatMap((message, index) => toChatMessages(message, index, names))
  return {
    messages: [...toSystemMessage(system), ...converted],
    tools,
    toolChoice: getToolChoice(tool_choice, tools),
    ...(tool_choice?.disable_parallel_tool_use && { maxCalls: 1 }),
    ...(messages.at(-1)?.role === 'assistant' && { isContinued: true }),
    variables: {
      ...(thinking && { enable_thinking: thinking.type !== 'disabled' }),
      ...(output_config?.effort && { reasoning_effort: output_config.effort }),
    },
  }
}

type Message = CountTokensRequest['messages'][number]

function toSystemMessage(system: CountTokensRequest['system']): ChatMessage[] {
  const content = typeof system === 'string' ? system : joinTexts(system ?? [], 'system')
  return content === '' ? [] : [{ role: 'system', content }]
}

/**
 * Converts one message. Each tool result becomes a separate message. These messages come before the rest of the user's
 * message.
 */
function toChatMessages(
  { role, content }: Message,
  index: number,
  names: ReadonlyMap<string, string>,
): ChatMessage[] {
  if (typeof content === 'string') return [{ role, content }]
  const path = `messages.${index}.content`
  const results = content.filter(({ type }) => type === 'tool_result')
  const calls = content.filter(({ type }) => type === 'tool_use')
  const thoughts = content.filter(({ type }) => type === 'thinking')
  const hidden = ['tool_result', 'tool_use', 'thinking', 'redacted_thinking']
  const texts = content.filter(({ type }) => !hidden.includes(type))
  const text = joinTexts(texts, path)
  const reasoning = thoughts.map(({ thinking = '' }) => thinking).join('')
  const toolMessages = results.map((block): ChatMessage => {
    const { tool_use_id: id = '', content: result = '' } = block
    const name = names.get(id)
    return {
      role: 'tool',
      content: typeof result === 'string' ? result : joinTexts(result, path),
      tool_call_id: id,
      ...(name !== undefined && { name }),
    }
  })
  if (texts.length + calls.length + thoughts.length === 0) return toolMessages
  return [
    ...toolMessages,
    {
      role,
      content: text,
      ...(reasoning !== '' && { reasoning_content: reasoning }),
      ...(calls.length > 0 && { tool_calls: calls.map(toToolCall) }),
    },
  ]
}

const toToolCall = ({ id = '', name = '', input }: ContentBlock) =>
  makeCall(id, name, input as object | undefined)

/** Maps the ID of each tool call to the tool's name. */
function findToolNames(messages: readonly Message[]): Map<string, string> {
  const blocks = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content))
  const calls = blocks.filter(({ type }) => type === 'tool_use')
  return new Map(calls.map(({ id = '', name = '' }) => [id, name]))
}

function joinTexts(blocks: readonly { type: string; text?: string }[], path: string): string {
  const strange = blocks.find(({ type }) => type !== 'text')
  if (strange) {
    throw unsupported(path, `must contain only text blocks, not a block of type ${strange.type}`)
  }
  return blocks.map(({ text = '' }) => text).join('')
}

function toTool(
  { type, name, description, input_schema }: NonNullable<CountTokensRequest['tools']>[number],
  index: number,
): Tool {
  if (type && type !== 'custom') {
    throw unsupported(`tools.${index}.type`, `${type} is not supported: it must be custom`)
  }
  return makeTool({ name, description, parameters: input_schema })
}

function getToolChoice(
  choice: CountTokensRequest['tool_choice'],
  tools: readonly Tool[],
): Chat['toolChoice'] {
  if (!choice) return 'auto'
  if (choice.type === 'auto' || choice.type === 'none') return choice.type
  const { name } = choice
  if (choice.type === 'any' && tools.length > 0) return 'required'
  if (name !== undefined && tools.some(({ function: tool }) => tool.name === name)) return { name }
  const missing = name === undefined ? '`name` is missing' : `${name} is not one of the tools`
  const why = choice.type === 'any' ? 'there are no tools' : missing
  throw new Fault(400, `tool_choice requires a tool, but ${why}`, { param: 'tool_choice' })
}
