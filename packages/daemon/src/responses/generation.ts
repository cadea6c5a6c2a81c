/** Converts requests from the format of OpenAI's Responses API to the runtime's format. */
import type { InputItem, ResponseRequest } from '@shoal/protocol'
import { Fault } from '../errors.ts'
import type { MediaSettings } from '../http/media.ts'
import { refuseFields, unsupportedFields } from '../http/request-fields.ts'
import { checkSampling, toSampling } from '../http/sampling.ts'
import { getResponseForm } from '../openai/answer-form.ts'
import { getReasoningBudget, getReasoningVariables, toMaxTokens } from '../openai/generation.ts'
import { chooseTools, type WantedTools } from '../openai/tool-choice.ts'
import type { Generation } from '../runtime/runtime.ts'
import { toChatMessages } from './chat-messages.ts'
import { type CallableTool, toTool } from './tools.ts'

type Options = {
  /** The conversation up to the continued response, if any, and the request's own input. */
  conversation: InputItem[]
  tools: CallableTool[]
  media: MediaSettings
}

export function createResponseGeneration(
  request: ResponseRequest,
  { conversation, tools, media }: Options,
): Generation {
  refuseFields(request, unsupportedFields.responses)
  if (conversation.length === 0) {
    throw new Fault(422, 'input must not be empty', { param: 'input' })
  }
  const wantsLogprobs = request.include?.includes('message.output_text.logprobs')
  return checkSampling({
    prompt: {
      chat: {
        messages: toChatMessages(request.instructions ?? '', conversation, media),
        ...chooseTools(tools.map(toTool), toWantedTools(request)),
        ...(request.parallel_tool_calls === false && { maxCalls: 1 }),
        variables: {
          ...getReasoningVariables(request.reasoning?.effort),
          ...request.chat_template_kwargs,
        },
      },
    },
    maxTokens: toMaxTokens(request.max_output_tokens),
    stop: [],
    reasoningBudget: getReasoningBudget(request),
    sampling: toSampling(request),
    form: getResponseForm(request),
    topLogprobs: wantsLogprobs ? (request.top_logprobs ?? 0) : undefined,
  })
}

function toWantedTools({ tool_choice: choice }: ResponseRequest): WantedTools {
  if (!choice || typeof choice === 'string') return { mode: choice ?? 'auto' }
  if (choice.type !== 'allowed_tools') return { mode: 'required', name: choice.name }
  return { mode: choice.mode, allowed: choice.tools.map(({ name }) => name) }
}
