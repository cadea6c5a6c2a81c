/** Converts requests from the format of Anthropic's Messages API to the runtime's format. */
import type { ContentBlock, CountTokensRequest, MessagesRequest } from '@shoal/protocol'
import { Fault, unsupported } from '../errors.ts'
import { type MediaSettings, mediaReaders, type ReadMedia } from '../http/media.ts'
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

export function createMessagesGeneration(
  request: MessagesRequest,
  media: MediaSettings,
): Generation {
  refuseFields(request, unsupportedFields.messages)
  const format = request.output_config?.format ?? request.output_format
  return {
    prompt: { chat: createMessagesChat(request, media) },
    maxTokens: request.max_tokens,
    stop: request.stop_sequences ?? [],
    reasoningBudget: request.thinking?.budget_tokens ?? undefined,
    sampling: toSampling(request),
    form: format ? { param: 'output_config.format', schema: format.schema } : undefined,
    topLogprobs: undefined,
  }
}

export function createMessagesChat(request: CountTokensRequest, media: MediaSettings): Chat {
  const { system, messages, thinking, tool_choice, output_config } = request
  const tools = (request.tools ?? []).map(toTool)
  const names = findToolNames(messages)
  const readers = mediaReaders(messages.map(getRole), media)
  const converted = messages.flatMap((message, index) => {
    const options = { path: `messages.${index}.content`, names, readMedia: readers(index) }
    return toChatMessages(message, options)
  })
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

/** The message of a tool's result may also contain images from the result. */
function getRole({ role, content }: Message): string {
  const isResult = Array.isArray(content) && content.some(({ type }) => type === 'tool_result')
  return isResult ? 'tool' : role
}

/**
 * Claude Code's first system block, which is for Anthropic's billing and not for the model. It differs from session to
 * session, so a prompt that begins with it would not be in the cache when a session starts.
 */
const billingLine = /^x-anthropic-billing-header:/

function toSystemMessage(system: CountTokensRequest['system']): ChatMessage[] {
  const readMedia = (_: object, param: string): never => {
    throw unsupported(param, 'must contain only text blocks')
  }
  const blocks = typeof system === 'string' ? [{ type: 'text', text: system }] : (system ?? [])
  const own = blocks.filter(({ text = '' }) => !billingLine.test(text))
  const content = joinTexts(own, 'system', readMedia)
  return content === '' ? [] : [{ role: 'system', content }]
}

type Options = { path: string; names: ReadonlyMap<string, string>; readMedia: ReadMedia }

/**
 * Converts one message. Each tool result becomes a separate message. These messages come before the rest of the user's
 * message.
 */
function toChatMessages(
  { role, content }: Message,
  { path, names, readMedia }: Options,
): ChatMessage[] {
  if (typeof content === 'string') return [{ role, content }]
  const results = content.filter(({ type }) => type === 'tool_result')
  const calls = content.filter(({ type }) => type === 'tool_use')
  const thoughts = content.filter(({ type }) => type === 'thinking')
  const hidden = ['tool_result', 'tool_use', 'thinking', 'redacted_thinking']
  const texts = content.filter(({ type }) => !hidden.includes(type))
  const text = joinTexts(texts, path, readMedia)
  const reasoning = thoughts.map(({ thinking = '' }) => thinking).join('')
  const toolMessages = results.map((block): ChatMessage => {
    const { tool_use_id: id = '', content: result = '' } = block
    const name = names.get(id)
    return {
      role: 'tool',
      content: typeof result === 'string' ? result : joinTexts(result, path, readMedia),
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

type Block = Pick<ContentBlock, 'type' | 'text' | 'source' | 'title' | 'tool_name'> & {
  content?: unknown
}

const joinTexts = (blocks: readonly Block[], path: string, readMedia: ReadMedia): string =>
  blocks.map((block) => findText(block) ?? readMedia(block, path)).join('')

/** Returns the text in a block; undefined if the block has no text. */
function findText({ type, text, source, title, content, tool_name }: Block): string | undefined {
  if (type === 'text') return text ?? ''
  if (type === 'tool_reference') return `[tool ${tool_name}]` // refers to one of the request's tools
  if (type === 'search_result') return [title, source, findTexts(content)].join('\n')
  if (type !== 'document') return undefined
  const { type: form, data, content: inner } = Object(source) as Record<string, unknown>
  return form === 'text' && typeof data === 'string' ? data : findTexts(inner)
}

/** Returns the text of a string or of text blocks; undefined if it is anything else. */
function findTexts(content: unknown): string | undefined {
  if (typeof content === 'string') return content
  const texts = Array.isArray(content) ? content.map((one) => Object(one).text) : [undefined]
  return texts.every((text) => typeof text === 'string') ? texts.join('') : undefined
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
