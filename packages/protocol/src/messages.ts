/**
 * Requests to the local daemon in the format of Anthropic's Messages API (https://docs.anthropic.com/en/api/messages).
 * `docs/request-fields.md` lists all fields.
 */
import Type, { type Static } from 'typebox'
import { optional } from './common.ts'
import { maxTools } from './inference.ts'

const blockFields = {
  type: Type.String(),
  text: Type.Optional(Type.String()),
  /** The data of an image or a document. A search result has a URL instead. */
  source: Type.Optional(Type.Unknown()),
  title: optional(Type.String()),
  tool_name: Type.Optional(Type.String()),
}

/** A part of a message. Its `type` determines which of the other members it has. */
const ContentBlock = Type.Object({
  ...blockFields,
  thinking: Type.Optional(Type.String()),
  id: Type.Optional(Type.String()),
  name: Type.Optional(Type.String()),
  input: Type.Optional(Type.Unknown()),
  tool_use_id: Type.Optional(Type.String()),
  is_error: optional(Type.Boolean()),
  content: Type.Optional(
    Type.Union([
      Type.String(),
      Type.Array(Type.Object({ ...blockFields, content: Type.Optional(Type.Unknown()) })),
    ]),
  ),
})
export type ContentBlock = Static<typeof ContentBlock>

const Message = Type.Object({
  role: Type.Enum(['user', 'assistant', 'system']),
  content: Type.Union([Type.String(), Type.Array(ContentBlock)]),
})

const Tool = Type.Object({
  type: optional(Type.String()),
  name: Type.String({ minLength: 1, maxLength: 256 }),
  description: optional(Type.String()),
  input_schema: Type.Optional(Type.Object({})),
})

const OutputFormat = Type.Object({ type: Type.Literal('json_schema'), schema: Type.Object({}) })

const promptFields = {
  model: Type.String({ minLength: 1 }),
  messages: Type.Array(Message, { minItems: 1 }),
  system: Type.Optional(Type.Union([Type.String(), Type.Array(ContentBlock), Type.Null()])),
  tools: optional(Type.Array(Tool, { maxItems: maxTools })),
  tool_choice: optional(
    Type.Object({
      type: Type.Enum(['auto', 'any', 'tool', 'none']),
      name: Type.Optional(Type.String()),
      disable_parallel_tool_use: optional(Type.Boolean()),
    }),
  ),
  output_config: optional(
    Type.Object({ format: optional(OutputFormat), effort: optional(Type.String()) }),
  ),
  thinking: optional(
    Type.Object({
      type: Type.Enum(['enabled', 'disabled', 'adaptive']),
      /** The maximum number of tokens of the reasoning. */
      budget_tokens: optional(Type.Integer({ minimum: 0 })),
    }),
  ),
}

export const CountTokensRequest = Type.Object(promptFields)
export type CountTokensRequest = Static<typeof CountTokensRequest>

export const MessagesRequest = Type.Object({
  ...promptFields,
  max_tokens: Type.Integer({ minimum: 1 }),
  /** The former name of `output_config.format`. */
  output_format: optional(OutputFormat),
  stop_sequences: optional(Type.Array(Type.String(), { maxItems: 16 })),
  stream: optional(Type.Boolean()),
  temperature: optional(Type.Number({ minimum: 0, maximum: 1 })),
  top_k: optional(Type.Integer({ minimum: -1 })),
  top_p: optional(Type.Number({ minimum: 0, maximum: 1 })),
})
export type MessagesRequest = Static<typeof MessagesRequest>
