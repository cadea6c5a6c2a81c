/** Converts requests in OpenAI's format to the runtime's format. */
import type { ChatRequest, CompletionRequest } from '@shoal/protocol'
import { Fault, unsupported } from '../errors.ts'
import { toSampling } from '../http/sampling.ts'
import {
  type Chat,
  type ChatMessage,
  type Generation,
  makeTool,
  type Prompt,
  type Tool,
} from '../runtime/runtime.ts'
import { joinText } from './join-text.ts'
import { chooseTools, type WantedTools } from './tool-choice.ts'

/** Parameters of OpenAI's API that would have an effect but are not supported. Unknown parameters are ignored. */
const cannot = ['audio', 'functions', 'function_call', 'prediction', 'web_search_options'] as const

export function createChatGeneration(request: ChatRequest): Generation {
  refuse(request, cannot)
  const { logprobs, top_logprobs, max_completion_tokens, max_tokens } = request
  if (top_logprobs !== null && top_logprobs !== undefined && logprobs !== true) {
    throw new Fault(400, 'top_logprobs requires logprobs to be true', { param: 'top_logprobs' })
  }
  return {
    prompt: { chat: createChat(request) },
    maxTokens: max_completion_tokens ?? max_tokens ?? undefined,
    stop: toStops(request),
    sampling: toSampling(request),
    json: getJsonFormat(request),
    topLogprobs: logprobs ? (top_logprobs ?? 0) : undefined,
  }
}

/** Creates one generation for each prompt. */
export function createCompletionGenerations(request: CompletionRequest): Generation[] {
  refuse(request, ['suffix'])
  const { echo, best_of, n, logprobs } = request
  if (echo) throw unsupported('echo')
  if (best_of && best_of > (n ?? 1)) throw unsupported('best_of')
  return toTexts(request.prompt).map((prompt) => ({
    prompt: toPrompt(prompt),
    maxTokens: request.max_tokens ?? defaultCompletionTokens,
    stop: toStops(request),
    sampling: toSampling(request),
    json: undefined,
    topLogprobs: logprobs ?? undefined,
  }))
}

/** OpenAI's default maximum number of tokens for completions. Without a maximum, a completion might never end. */
const defaultCompletionTokens = 16

/** Returns a list of prompts. `given` is one prompt or a list of prompts, each as text or as a list of tokens. */
export function toTexts(given: CompletionRequest['prompt']): (string | number[])[] {
  if (typeof given === 'string') return [given]
  const isOneText = typeof given[0] === 'number'
  return isOneText ? [given as number[]] : (given as (string | number[])[])
}

const toPrompt = (text: string | number[]): Prompt =>
  typeof text === 'string' ? { text } : { tokens: text }

export function refuse(request: object, names: readonly string[]) {
  for (const name of names) {
    const value = (request as Record<string, unknown>)[name]
    const isUnset = value === undefined || value === null || value === false || value === ''
    if (!isUnset && !(Array.isArray(value) && value.length === 0)) throw unsupported(name)
  }
}

export function createChat(request: ChatRequest): Chat {
  const tools = (request.tools ?? []).map(toTool)
  return {
    messages: request.messages.map(toChatMessage),
    ...chooseTools(tools, toWantedTools(request)),
    ...(request.parallel_tool_calls === false && { maxCalls: 1 }),
    variables: {
      ...getReasoningVariables(request.reasoning_effort),
      ...request.chat_template_kwargs,
    },
  }
}

/**
 * Returns the template variables for a reasoning effort: both `enable_thinking` and `reasoning_effort`, because the
 * template of a reasoning model uses only one of the two. For `none`, only `enable_thinking` is set, to false.
 */
export function getReasoningVariables(effort: string | null | undefined): Record<string, unknown> {
  if (!effort) return {}
  if (effort === 'none') return { enable_thinking: false }
  return { enable_thinking: true, reasoning_effort: effort }
}

function toTool(tool: NonNullable<ChatRequest['tools']>[number], index: number): Tool {
  if (tool.type === 'function' && tool.function) return makeTool(tool.function)
  throw unsupported(`tools.${index}.type`, `${tool.type} is not supported: it must be function`)
}

function toWantedTools({ tool_choice: choice }: ChatRequest): WantedTools {
  if (!choice || typeof choice === 'string') return { mode: choice ?? 'auto' }
  if (choice.type === 'function') return { mode: 'required', name: choice.function.name }
  const { mode, tools } = choice.allowed_tools
  return { mode, allowed: tools.map(({ function: { name } }) => name) }
}

function toChatMessage(message: ChatRequest['messages'][number], index: number): ChatMessage {
  const { role, content, refusal, name, tool_calls, tool_call_id, reasoning_content } = message
  return {
    role: role === 'developer' ? 'system' : role,
    content: joinText(content ?? refusal, `messages.${index}.content`, ['text', 'refusal']),
    ...(name && { name }),
    ...(reasoning_content && { reasoning_content }),
    ...(tool_calls && tool_calls.length > 0 && { tool_calls }),
    ...(tool_call_id && { tool_call_id }),
  }
}

function toStops({ stop }: Pick<ChatRequest, 'stop'>): string[] {
  return typeof stop === 'string' ? [stop] : (stop ?? [])
}

export function getJsonFormat({ response_format: format }: ChatRequest): true | object | undefined {
  if (format?.type === 'json_object') return true
  if (format?.type !== 'json_schema') return undefined
  const schema = format.json_schema?.schema
  if (schema) return schema
  throw new Fault(422, 'response_format.json_schema.schema is required', {
    param: 'response_format',
  })
}
