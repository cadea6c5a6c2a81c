/** What the local daemon is asked, in the shapes of OpenAI's API. Fields that are not named here are accepted and ignored. */
import Type, { type Static } from 'typebox'
import { Nullable } from './common.ts'

const optional = <T extends Parameters<typeof Nullable>[0]>(schema: T) =>
  Type.Optional(Nullable(schema))

const ContentPart = Type.Object({ type: Type.String(), text: Type.Optional(Type.String()) })

const Message = Type.Object({
  role: Type.Enum(['system', 'developer', 'user', 'assistant', 'tool']),
  content: Type.Optional(
    Type.Union([Type.String(), Type.Array(ContentPart, { minItems: 1 }), Type.Null()]),
  ),
  name: Type.Optional(Type.String()),
  tool_calls: Type.Optional(Type.Array(Type.Object({}))),
  tool_call_id: Type.Optional(Type.String()),
})

const ResponseFormat = Type.Object({
  type: Type.Enum(['text', 'json_object', 'json_schema']),
  json_schema: Type.Optional(
    Type.Object({ name: Type.Optional(Type.String()), schema: Type.Optional(Type.Object({})) }),
  ),
})

const samplingFields = {
  temperature: optional(Type.Number({ minimum: 0, maximum: 2 })),
  top_p: optional(Type.Number({ minimum: 0, maximum: 1 })),
  top_k: optional(Type.Integer({ minimum: 0 })),
  min_p: optional(Type.Number({ minimum: 0, maximum: 1 })),
  seed: optional(Type.Integer()),
  presence_penalty: optional(Type.Number({ minimum: -2, maximum: 2 })),
  frequency_penalty: optional(Type.Number({ minimum: -2, maximum: 2 })),
  logit_bias: optional(Type.Record(Type.String(), Type.Number({ minimum: -100, maximum: 100 }))),
}

const generationFields = {
  model: Type.String({ minLength: 1 }),
  stream: optional(Type.Boolean()),
  stream_options: optional(Type.Object({ include_usage: optional(Type.Boolean()) })),
  stop: Type.Optional(
    Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 4 }), Type.Null()]),
  ),
  n: optional(Type.Integer({ minimum: 1, maximum: 16 })),
  max_tokens: optional(Type.Integer({ minimum: 1 })),
  ...samplingFields,
}

export const ChatRequest = Type.Object({
  ...generationFields,
  messages: Type.Array(Message, { minItems: 1 }),
  max_completion_tokens: optional(Type.Integer({ minimum: 1 })),
  logprobs: optional(Type.Boolean()),
  top_logprobs: optional(Type.Integer({ minimum: 0, maximum: 20 })),
  response_format: optional(ResponseFormat),
})
export type ChatRequest = Static<typeof ChatRequest>

export const CompletionRequest = Type.Object({
  ...generationFields,
  prompt: Type.Union([Type.String(), Type.Array(Type.String(), { minItems: 1, maxItems: 1 })]),
  echo: optional(Type.Boolean()),
})
export type CompletionRequest = Static<typeof CompletionRequest>
