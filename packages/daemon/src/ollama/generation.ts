import type { OllamaChatRequest, OllamaGenerateRequest } from '@shoal/protocol'
import { Fault } from '../errors.ts'
import { toGap } from '../http/gaps.ts'
import type { MediaSettings } from '../http/media.ts'
import { refuseFields, unsupportedFields } from '../http/request-fields.ts'
import { toKeepAliveMs } from '../models/keep-alive.ts'
import type { LocalModel } from '../models/local-models.ts'
import type { UseOptions } from '../models/use-model.ts'
import {
  type AnswerForm,
  type ChatMessage,
  type Generation,
  isUnfinished,
  type Prompt,
} from '../runtime/runtime.ts'
import { canThink } from './capabilities.ts'
import { toChatMessages, toTools } from './messages.ts'
import { getStopConditions, toSampling } from './sampling.ts'

type AnyRequest = Pick<OllamaChatRequest, 'model' | 'options' | 'keep_alive'>
type Wanted = Omit<OllamaChatRequest, 'messages' | 'tools'>

/** Reads a request's options for loading the model: how long it stays loaded, and its context length. */
export function readOptions({ keep_alive, options }: AnyRequest, signal: AbortSignal): UseOptions {
  const keepAliveMs = toKeepAliveMs(keep_alive)
  return { keepAliveMs, contextLength: options?.num_ctx ?? undefined, signal }
}

export function createOllamaChatGeneration(
  request: OllamaChatRequest,
  media: MediaSettings,
): Generation {
  const messages = toChatMessages(request.messages ?? [], media)
  const tools = toTools(request)
  const variables = getTemplateVariables(request)
  const isContinued = isUnfinished(messages)
  return createGeneration(request, {
    chat: { messages, tools, toolChoice: 'auto', isContinued, variables },
  })
}

export function createOllamaPromptGeneration(
  request: OllamaGenerateRequest,
  model: LocalModel,
): Generation {
  return createGeneration(request, createPrompt(request, model))
}

/** Rejects fields and options that would have an effect but are not supported. */
export function refuseUnsupported(request: Wanted) {
  refuseFields(request, unsupportedFields.ollama)
  refuseFields(request.options ?? {}, unsupportedFields.ollamaOptions, 'options.')
}

/**
 * Rejects a request for reasoning if the model cannot reason, as Ollama does: a program that requests reasoning expects
 * to receive it.
 */
export function refuseThinking({ model: name, think }: Wanted, model: LocalModel) {
  if (!think || canThink(model)) return
  throw new Fault('unsupported_parameter', `"${name}" does not support thinking`, {
    param: 'think',
  })
}

/** Creates the prompt. A model without a chat template gets the prompt as plain text. */
function createPrompt(request: OllamaGenerateRequest, { facts }: LocalModel): Prompt {
  const text = request.prompt ?? ''
  if (request.suffix) return toGap(text, request.suffix)
  if (request.raw) return { text }
  const { system } = request
  if (!facts.chat_template?.trim()) return { text: system ? `${system}\n\n${text}` : text }
  const messages: ChatMessage[] = [
    ...(system ? [{ role: 'system', content: system }] : []),
    { role: 'user', content: text },
  ]
  return {
    chat: { messages, tools: [], toolChoice: 'none', variables: getTemplateVariables(request) },
  }
}

function createGeneration(request: Wanted, prompt: Prompt): Generation {
  const options = request.options ?? {}
  return {
    prompt,
    ...getStopConditions(options),
    sampling: toSampling(options),
    form: getForm(request),
    topLogprobs: request.logprobs ? (request.top_logprobs ?? 0) : undefined,
    truncates: request.truncate === true, // the default is false, unlike in Ollama, so that nothing is dropped silently
  }
}

function getForm({ format }: Wanted): AnswerForm | undefined {
  if (!format) return undefined
  const param = 'format'
  if (typeof format === 'object') return { param, schema: format }
  if (format === 'json') return { param, schema: { type: 'object' } }
  throw new Fault(400, `format must be "json" or a JSON schema, not "${format}"`, {
    param: 'format',
  })
}

const efforts = ['low', 'medium', 'high', 'max']

function getTemplateVariables({ think }: Wanted): Record<string, unknown> {
  if (think === undefined || think === null || think === '') return {}
  if (typeof think === 'boolean') return { enable_thinking: think }
  if (efforts.includes(think)) return { enable_thinking: true, reasoning_effort: think }
  throw new Fault(
    400,
    `think must be true, false or one of ${efforts.join(', ')}, not "${think}"`,
    {
      param: 'think',
    },
  )
}
