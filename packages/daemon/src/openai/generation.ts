import type { ChatRequest, CompletionRequest } from '@shoal/protocol'
import { Fault, unsupported } from '../errors.ts'
import type { ChatMessage, Generation, Sampling } from '../runtime/runtime.ts'

/** What llama.cpp's own server takes where a request says nothing: small models ramble without it. */
const usual = { temperature: 0.8, topP: 0.95, topK: 40, minP: 0.05 }

/** Parameters of OpenAI's API that mean something which cannot be done here. Others that are unknown change nothing. */
const cannot = [
  'audio',
  'functions',
  'function_call',
  'prediction',
  'web_search_options',
  'tools',
] as const

export function generationOfChat(request: ChatRequest): Generation {
  refuseWhatCannotBe(request)
  const { logprobs, top_logprobs, max_completion_tokens, max_tokens } = request
  if (top_logprobs !== null && top_logprobs !== undefined && logprobs !== true) {
    throw new Fault(400, 'top_logprobs needs logprobs', { param: 'top_logprobs' })
  }
  return {
    prompt: { messages: request.messages.map(messageOf) },
    maxTokens: max_completion_tokens ?? max_tokens ?? undefined,
    stop: stopsOf(request),
    sampling: samplingOf(request),
    json: jsonOf(request),
    topLogprobs: logprobs ? (top_logprobs ?? 0) : undefined,
  }
}

export function generationOfCompletion(request: CompletionRequest): Generation {
  const { prompt, max_tokens } = request
  if (request.echo) throw unsupported('echo')
  return {
    prompt: { text: typeof prompt === 'string' ? prompt : (prompt[0] ?? '') },
    maxTokens: max_tokens ?? defaultCompletionTokens,
    stop: stopsOf(request),
    sampling: samplingOf(request),
    json: undefined,
    topLogprobs: undefined,
  }
}

/** As OpenAI has it for completions, which do not end by themselves. */
const defaultCompletionTokens = 16

function refuseWhatCannotBe(request: object) {
  for (const name of cannot) {
    const value = (request as Record<string, unknown>)[name]
    const isEmpty = value === undefined || value === null || (Array.isArray(value) && !value.length)
    if (!isEmpty) throw unsupported(name)
  }
}

function messageOf({ content, role, ...rest }: ChatRequest['messages'][number], index: number) {
  const message: ChatMessage = {
    ...rest,
    role: role === 'developer' ? 'system' : role,
    content: '',
  }
  if (typeof content === 'string') message.content = content
  else if (Array.isArray(content)) {
    const strange = content.find(({ type }) => type !== 'text')
    if (strange)
      throw unsupported(
        `messages.${index}.content`,
        `of type ${strange.type} is not supported here`,
      )
    message.content = content.map(({ text = '' }) => text).join('')
  }
  return message
}

function stopsOf({ stop }: Pick<ChatRequest, 'stop'>): string[] {
  return typeof stop === 'string' ? [stop] : (stop ?? [])
}

function samplingOf(request: Omit<CompletionRequest, 'prompt'>): Sampling {
  return {
    temperature: request.temperature ?? usual.temperature,
    topP: request.top_p ?? usual.topP,
    topK: request.top_k ?? usual.topK,
    minP: request.min_p ?? usual.minP,
    seed: request.seed ?? undefined,
    presencePenalty: request.presence_penalty ?? 0,
    frequencyPenalty: request.frequency_penalty ?? 0,
    logitBias: Object.entries(request.logit_bias ?? {}).map(([token, bias]) => {
      if (!/^\d{1,9}$/.test(token)) {
        throw new Fault(422, `logit_bias names ${token}, which is no token id`, {
          param: 'logit_bias',
        })
      }
      return [Number(token), bias]
    }),
  }
}

function jsonOf({ response_format: format }: ChatRequest): true | object | undefined {
  if (format?.type === 'json_object') return true
  if (format?.type !== 'json_schema') return undefined
  const schema = format.json_schema?.schema
  if (schema) return schema
  throw new Fault(422, 'response_format.json_schema.schema is required', {
    param: 'response_format',
  })
}
