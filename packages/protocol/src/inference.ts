/** Requests to the local daemon in OpenAI's API format. Fields that are not declared here are accepted and ignored. */
import Type, { type Static } from 'typebox'
import { optional } from './common.ts'

const ContentPart = Type.Object({
  type: Type.String(),
  text: Type.Optional(Type.String()),
  refusal: Type.Optional(Type.String()),
})

const ToolCall = Type.Object({
  id: Type.String(),
  type: Type.Literal('function'),
  function: Type.Object({ name: Type.String(), arguments: Type.String() }),
})

const Message = Type.Object({
  role: Type.Enum(['system', 'developer', 'user', 'assistant', 'tool']),
  content: Type.Optional(
    Type.Union([Type.String(), Type.Array(ContentPart, { minItems: 1 }), Type.Null()]),
  ),
  /** The text of a refusal, in an assistant message that contains a refusal instead of `content`. */
  refusal: optional(Type.String()),
  name: optional(Type.String()),
  reasoning_content: optional(Type.String()),
  tool_calls: optional(Type.Array(ToolCall)),
  tool_call_id: optional(Type.String()),
})

const ToolFunction = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 256 }),
  description: optional(Type.String()),
  parameters: optional(Type.Object({})),
})

const NamedFunction = Type.Object({
  type: Type.Literal('function'),
  function: Type.Object({ name: Type.String() }),
})

const ToolChoice = Type.Union([
  Type.Enum(['none', 'auto', 'required']),
  NamedFunction,
  Type.Object({
    type: Type.Literal('allowed_tools'),
    allowed_tools: Type.Object({
      mode: Type.Enum(['auto', 'required']),
      tools: Type.Array(NamedFunction, { minItems: 1, maxItems: 128 }),
    }),
  }),
  Type.Null(),
])

const ResponseFormat = Type.Object({
  type: Type.Enum(['text', 'json_object', 'json_schema']),
  json_schema: Type.Optional(
    Type.Object({ name: Type.Optional(Type.String()), schema: Type.Optional(Type.Object({})) }),
  ),
})

export const samplingFields = {
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
    Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 64 }), Type.Null()]),
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
  tools: optional(
    Type.Array(Type.Object({ type: Type.String(), function: Type.Optional(ToolFunction) }), {
      maxItems: 128,
    }),
  ),
  tool_choice: Type.Optional(ToolChoice),
  parallel_tool_calls: optional(Type.Boolean()),
  reasoning_effort: optional(Type.String()),
  /** Passed to the model's chat template, as in vLLM and llama.cpp. */
  chat_template_kwargs: optional(Type.Record(Type.String(), Type.Unknown())),
})
export type ChatRequest = Static<typeof ChatRequest>

const tokenIds = Type.Array(Type.Integer({ minimum: 0 }), { minItems: 1 })
/** One or more inputs, each of which is a string or a list of token IDs. */
const texts = (maxTexts: number) =>
  Type.Union([
    Type.String(),
    Type.Array(Type.String(), { minItems: 1, maxItems: maxTexts }),
    tokenIds,
    Type.Array(tokenIds, { minItems: 1, maxItems: maxTexts }),
  ])

export const CompletionRequest = Type.Object({
  ...generationFields,
  prompt: texts(64),
  echo: optional(Type.Boolean()),
  suffix: optional(Type.String()),
  best_of: optional(Type.Integer({ minimum: 1 })),
  logprobs: optional(Type.Integer({ minimum: 0, maximum: 5 })),
})
export type CompletionRequest = Static<typeof CompletionRequest>

export const EmbeddingRequest = Type.Object({
  model: Type.String({ minLength: 1 }),
  input: texts(2048),
  encoding_format: Type.Optional(Type.Union([Type.Enum(['float', 'base64']), Type.Null()])),
  dimensions: optional(Type.Integer({ minimum: 1 })),
})
export type EmbeddingRequest = Static<typeof EmbeddingRequest>
