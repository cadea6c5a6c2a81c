/** Converts requests in OpenAI's format to the runtime's format. */
import type { ChatRequest, CompletionRequest, reasoningFields } from '@shoal/protocol'
import { Fault, unsupported } from '../errors.ts'
import { toGap } from '../http/gaps.ts'
import { type MediaSettings, mediaReaders, type ReadMedia } from '../http/media.ts'
import { refuseFields, unsupportedFields } from '../http/request-fields.ts'
import { checkSampling, toSampling } from '../http/sampling.ts'
import {
  type Chat,
  type ChatMessage,
  type Generation,
  isUnfinished,
  makeCall,
  makeTool,
  type Prompt,
  type Tool,
  type ToolCall,
} from '../runtime/runtime.ts'
import { getForm } from './answer-form.ts'
import { makeCustomTool, toArguments } from './custom-tools.ts'
import { joinText } from './join-text.ts'
import { chooseTools, type WantedTools } from './tool-choice.ts'

export function createChatGeneration(request: ChatRequest, media: MediaSettings): Generation {
  refuseFields(request, unsupportedFields.chat)
  const { logprobs, top_logprobs } = request
  if (top_logprobs !== null && top_logprobs !== undefined && logprobs !== true) {
    throw new Fault(400, 'top_logprobs requires logprobs to be true', { param: 'top_logprobs' })
  }
  return checkSampling({
    prompt: { chat: createChat(request, media) },
    maxTokens: toMaxTokens(
      request.n_predict ?? request.max_completion_tokens ?? request.max_tokens,
    ),
    stop: toStops(request),
    reasoningBudget: getReasoningBudget(request),
    sampling: toSampling(request),
    form: getForm(request),
    topLogprobs: logprobs ? (top_logprobs ?? 0) : undefined,
  })
}

/** Creates one generation for each prompt. */
export function createCompletionGenerations(request: CompletionRequest): Generation[] {
  refuseFields(request, unsupportedFields.completions)
  const { best_of, n, logprobs } = request
  if (best_of && best_of > (n ?? 1)) throw unsupported('best_of')
  return toTexts(request.prompt).map((prompt) =>
    checkSampling({
      prompt: toPrompt(prompt, request),
      maxTokens: toMaxTokens(request.n_predict ?? request.max_tokens ?? defaultCompletionTokens),
      stop: toStops(request),
      sampling: toSampling(request),
      form: getForm(request),
      topLogprobs: logprobs ?? undefined,
    }),
  )
}

/** The maximum number of tokens; undefined if there is no maximum. */
export const toMaxTokens = (limit: number | null | undefined): number | undefined =>
  limit === -1 ? undefined : (limit ?? undefined)

/** OpenAI's default maximum number of tokens for completions. Without a maximum, a completion might never end. */
const defaultCompletionTokens = 16

/** Returns a list of prompts. `given` is one prompt or a list of prompts, each as text or as a list of tokens. */
export function toTexts(given: CompletionRequest['prompt']): (string | number[])[] {
  if (typeof given === 'string') return [given]
  const isOneText = typeof given[0] === 'number'
  return isOneText ? [given as number[]] : (given as (string | number[])[])
}

function toPrompt(text: string | number[], { suffix }: CompletionRequest): Prompt {
  if (!suffix) return typeof text === 'string' ? { text } : { tokens: text }
  if (typeof text === 'string') return toGap(text, suffix)
  throw unsupported('suffix', 'requires a prompt of text, not of tokens')
}

export function createChat(request: ChatRequest, media: MediaSettings): Chat {
  const tools = (request.tools ?? []).map(toTool)
  const readers = mediaReaders(
    request.messages.map(({ role }) => role),
    media,
  )
  const messages = request.messages.map((message, index) => {
    const param = `messages.${index}.content`
    return toChatMessage(message, { param, readMedia: readers(index) })
  })
  const isContinued = request.continue_final_message !== false && isUnfinished(messages)
  return {
    messages,
    isContinued,
    ...chooseTools(tools, toWantedTools(request)),
    ...(request.parallel_tool_calls === false && { maxCalls: 1 }),
    variables: {
      ...getReasoningVariables(request.reasoning_effort),
      ...request.chat_template_kwargs,
    },
  }
}

type BudgetRequest = Pick<ChatRequest, keyof typeof reasoningFields>

/** Returns the maximum number of tokens of the reasoning; undefined if the request has none. */
export const getReasoningBudget = (request: BudgetRequest): number | undefined =>
  request.reasoning_budget_tokens ??
  request.thinking_budget_tokens ??
  request.thinking_token_budget ??
  undefined

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
  if (tool.type === 'custom' && tool.custom) return makeCustomTool(tool.custom)
  const why = `${tool.type} is not supported: it must be function or custom`
  throw unsupported(`tools.${index}.type`, why)
}

/** The names of the tools whose calls are converted to calls of custom tools. */
export const customNames = ({ tools }: ChatRequest): Set<string> =>
  new Set((tools ?? []).flatMap(({ type, custom }) => (type === 'custom' && custom?.name) || []))

function toWantedTools({ tool_choice: choice }: ChatRequest): WantedTools {
  if (!choice || typeof choice === 'string') return { mode: choice ?? 'auto' }
  if (choice.type !== 'allowed_tools') return { mode: 'required', name: nameOf(choice) }
  const { mode, tools } = choice.allowed_tools
  return { mode, allowed: tools.map(nameOf) }
}

type NamedTool = { function: { name: string } } | { custom: { name: string } }

const nameOf = (tool: NamedTool) => ('custom' in tool ? tool.custom : tool.function).name

type RequestCall = NonNullable<ChatRequest['messages'][number]['tool_calls']>[number]

function toCall(call: RequestCall): ToolCall {
  if (call.type === 'function')
    return makeCall(call.id, call.function.name, call.function.arguments)
  return makeCall(call.id, call.custom.name, toArguments(call.custom.input))
}

function toChatMessage(
  message: ChatRequest['messages'][number],
  options: { param: string; readMedia: ReadMedia },
): ChatMessage {
  const { role, content, refusal, name, tool_calls, tool_call_id } = message
  const reasoning = message.reasoning_content || message.reasoning
  return {
    role: role === 'developer' ? 'system' : role,
    content: joinText(content ?? refusal, { ...options, textTypes: ['text', 'refusal'] }),
    ...(name && { name }),
    ...(reasoning && { reasoning_content: reasoning }),
    ...(tool_calls?.length && { tool_calls: tool_calls.map(toCall) }),
    ...(tool_call_id && { tool_call_id }),
  }
}

function toStops({ stop }: Pick<ChatRequest, 'stop'>): string[] {
  return typeof stop === 'string' ? [stop] : (stop ?? [])
}
