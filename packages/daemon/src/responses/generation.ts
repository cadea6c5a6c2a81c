/** Converts requests from the format of OpenAI's Responses API to the runtime's format. */
import type { InputItem, ResponseRequest } from '@shoal/protocol'
import { Fault, unsupported } from '../errors.ts'
import { toSampling } from '../http/sampling.ts'
import { getReasoningVariables, refuse } from '../openai/generation.ts'
import { chooseTools, type WantedTools } from '../openai/tool-choice.ts'
import type { Generation } from '../runtime/runtime.ts'
import { toChatMessages } from './chat-messages.ts'
import { toTools } from './tools.ts'

/** Parameters of OpenAI's API that would have an effect but are not supported. Unknown parameters are ignored. */
const cannot = ['background', 'conversation', 'prompt', 'context_management', 'max_tool_calls']

/**
 * Converts a request. `conversation` consists of the conversation up to the continued response, if any, and the
 * request's own input.
 */
export function createResponseGeneration(
  request: ResponseRequest,
  conversation: InputItem[],
): Generation {
  refuse(request, cannot)
  if (request.truncation === 'auto') {
    throw unsupported(
      'truncation',
      'auto is not supported: the daemon does not shorten conversations',
    )
  }
  if (conversation.length === 0) {
    throw new Fault(422, 'input must not be empty', { param: 'input' })
  }
  const wantsLogprobs = request.include?.includes('message.output_text.logprobs')
  return {
    prompt: {
      chat: {
        messages: toChatMessages(request.instructions ?? '', conversation),
        ...chooseTools(toTools(request), toWantedTools(request)),
        ...(request.parallel_tool_calls === false && { maxCalls: 1 }),
        variables: {
          ...getReasoningVariables(request.reasoning?.effort),
          ...request.chat_template_kwargs,
        },
      },
    },
    maxTokens: request.max_output_tokens ?? undefined,
    stop: [],
    sampling: toSampling(request),
    json: getJsonFormat(request),
    topLogprobs: wantsLogprobs ? (request.top_logprobs ?? 0) : undefined,
  }
}

function toWantedTools({ tool_choice: choice }: ResponseRequest): WantedTools {
  if (!choice || typeof choice === 'string') return { mode: choice ?? 'auto' }
  if (choice.type === 'function') return { mode: 'required', name: choice.name }
  return { mode: choice.mode, allowed: choice.tools.map(({ name }) => name) }
}

function getJsonFormat({ text }: ResponseRequest): true | object | undefined {
  const format = text?.format
  if (format?.type === 'json_object') return true
  if (format?.type !== 'json_schema') return undefined
  if (format.schema) return format.schema
  throw new Fault(422, 'text.format.schema is required', { param: 'text.format' })
}
