/**
 * Requests to the local daemon in the format of OpenAI's Responses API
 * (https://platform.openai.com/docs/api-reference/responses). `docs/request-fields.md` lists all fields.
 */
import Type, { type Static } from 'typebox'
import { optional } from './common.ts'
import {
  CallArguments,
  formFields,
  maxTools,
  reasoningFields,
  samplingFields,
  TokenLimit,
} from './inference.ts'

const Part = Type.Object({
  type: Type.String(),
  image_url: Type.Optional(Type.Unknown()),
  filename: Type.Optional(Type.Unknown()),
  text: Type.Optional(Type.String()),
  refusal: Type.Optional(Type.String()),
})
const TextOrParts = Type.Optional(Type.Union([Type.String(), Type.Array(Part), Type.Null()]))

const toolFields = {
  type: Type.String(),
  name: optional(Type.String({ minLength: 1, maxLength: 256 })),
  description: optional(Type.String()),
  parameters: optional(Type.Object({})),
  /** The format of a custom tool's input. */
  format: optional(Type.Object({})),
  /** Whether the client or the server runs a tool of type `tool_search`. */
  execution: optional(Type.String()),
}
const Tool = Type.Object({
  ...toolFields,
  /** The functions in a namespace. */
  tools: optional(Type.Array(Type.Object(toolFields), { maxItems: maxTools })),
})

/** An item of a conversation. Its `type` determines which of the other members it has. */
const InputItem = Type.Object({
  type: optional(Type.String()),
  id: optional(Type.String()),
  status: optional(Type.String()),
  role: Type.Optional(Type.Enum(['system', 'developer', 'user', 'assistant'])),
  content: TextOrParts,
  summary: optional(Type.Array(Part)),
  call_id: optional(Type.String()),
  name: optional(Type.String()),
  arguments: optional(CallArguments),
  input: optional(Type.String()),
  output: TextOrParts,
  /** The tools in an item of type `tool_search_output`. */
  tools: optional(Type.Array(Tool, { maxItems: maxTools })),
})
export type InputItem = Static<typeof InputItem>

const NamedTool = Type.Object({ type: Type.Enum(['function', 'custom']), name: Type.String() })

const ToolChoice = Type.Union([
  Type.Enum(['none', 'auto', 'required']),
  NamedTool,
  Type.Object({
    type: Type.Literal('allowed_tools'),
    mode: Type.Enum(['auto', 'required']),
    tools: Type.Array(NamedTool, { minItems: 1, maxItems: maxTools }),
  }),
  Type.Null(),
])

const TextFormat = Type.Object({
  type: Type.Enum(['text', 'json_object', 'json_schema']),
  schema: Type.Optional(Type.Object({})),
})

export const ResponseRequest = Type.Object({
  model: Type.String({ minLength: 1 }),
  input: Type.Union([Type.String(), Type.Array(InputItem)]),
  instructions: optional(Type.String()),
  previous_response_id: optional(Type.String()),
  store: optional(Type.Boolean()),
  stream: optional(Type.Boolean()),
  ...reasoningFields,
  ...formFields,
  ...samplingFields,
  max_output_tokens: optional(TokenLimit),
  top_logprobs: optional(Type.Integer({ minimum: 0, maximum: 20 })),
  text: optional(Type.Object({ format: optional(TextFormat) })),
  tools: optional(Type.Array(Tool, { maxItems: maxTools })),
  tool_choice: Type.Optional(ToolChoice),
  parallel_tool_calls: optional(Type.Boolean()),
  reasoning: optional(
    Type.Object({ effort: optional(Type.String()), summary: optional(Type.String()) }),
  ),
  include: optional(Type.Array(Type.String())),
  metadata: optional(Type.Object({})),
  user: optional(Type.String()),
  /** Passed to the model's chat template, as in chat completions. */
  chat_template_kwargs: optional(Type.Record(Type.String(), Type.Unknown())),
})
export type ResponseRequest = Static<typeof ResponseRequest>
