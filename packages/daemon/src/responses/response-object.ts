/** The `response` object, as defined in the reference of OpenAI's Responses API. */
import type { ResponseRequest } from '@shoal/protocol'
import { samplingDefaults } from '../http/sampling.ts'
import type { Finish } from '../runtime/runtime.ts'
import { newId, type OutputItem } from './items.ts'
import { offeredTools } from './tools.ts'

export type ResponseObject = ReturnType<typeof beginResponse>

/** Returns the response before any output has been generated. It echoes the request's parameters. */
export function beginResponse(request: ResponseRequest) {
  const { reasoning, text } = request
  return {
    id: newId('resp'),
    object: 'response',
    created_at: nowSeconds(),
    completed_at: null as number | null,
    status: 'in_progress' as 'in_progress' | 'completed' | 'incomplete' | 'failed',
    background: false,
    error: null as { code: string; message: string } | null,
    incomplete_details: null as { reason: string } | null,
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    model: request.model,
    output: [] as OutputItem[],
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    previous_response_id: request.previous_response_id ?? null,
    reasoning: { effort: reasoning?.effort ?? null, summary: reasoning?.summary ?? null },
    service_tier: 'default',
    store: request.store ?? true,
    temperature: request.temperature ?? samplingDefaults.temperature,
    text: { format: text?.format ?? { type: 'text' } },
    tool_choice: request.tool_choice ?? 'auto',
    tools: offeredTools(request).map((tool) => ({
      ...(tool.type === 'function' && { strict: null, parameters: null }),
      ...tool,
      description: tool.description ?? null,
    })),
    top_logprobs: request.top_logprobs ?? 0,
    top_p: request.top_p ?? samplingDefaults.topP,
    truncation: 'disabled',
    usage: null as ReturnType<typeof toUsage> | null,
    user: request.user ?? null,
    metadata: request.metadata ?? {},
  }
}

/** Returns the response after the end of the answer. Its status is `incomplete` if the answer was cut off. */
export function finishResponse(response: ResponseObject, finish: Finish): ResponseObject {
  const isCut = finish.reason === 'length'
  return {
    ...response,
    status: isCut ? 'incomplete' : 'completed',
    completed_at: isCut ? null : nowSeconds(),
    incomplete_details: isCut ? { reason: 'max_output_tokens' } : null,
    usage: toUsage(finish),
  }
}

/** Returns the response after an error. It keeps the items that the client has already received. */
export function failResponse(
  response: ResponseObject,
  error: { code: string; message: string },
): ResponseObject {
  const output = response.output.map((item) =>
    item.status === 'in_progress' ? { ...item, status: 'incomplete' as const } : item,
  )
  return { ...response, output, status: 'failed', error }
}

function toUsage({ promptTokens, cachedTokens, completionTokens, reasoningTokens }: Finish) {
  return {
    input_tokens: promptTokens,
    input_tokens_details: { cached_tokens: cachedTokens, cache_write_tokens: 0 },
    output_tokens: completionTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: promptTokens + completionTokens,
  }
}

const nowSeconds = () => Math.floor(Date.now() / 1000)
