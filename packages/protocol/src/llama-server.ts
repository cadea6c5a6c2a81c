/**
 * Requests to the local daemon in the format of llama.cpp's server
 * (https://github.com/ggml-org/llama.cpp/tree/master/tools/server), with the additional field `model`. If `model` is
 * absent, the only loaded model is used.
 */
import Type, { type Static } from 'typebox'
import { optional } from './common.ts'
import { ChatRequest, formFields, samplingFields, TokenLimit } from './inference.ts'

/** Maximum number of characters or tokens in a request. More would delay the model's other requests. */
const maxAtOnce = 1_000_000

const modelField = { model: optional(Type.String()) }

export const TokenizeRequest = Type.Object({
  ...modelField,
  content: Type.String({ maxLength: maxAtOnce }),
  add_special: optional(Type.Boolean()),
  parse_special: optional(Type.Boolean()),
  with_pieces: optional(Type.Boolean()),
})

export const DetokenizeRequest = Type.Object({
  ...modelField,
  tokens: Type.Array(Type.Integer({ minimum: 0 }), { maxItems: maxAtOnce }),
})

/** Code completion in editors: the answer fills the gap between `input_prefix` and `input_suffix`. */
export const InfillRequest = Type.Object({
  ...modelField,
  input_prefix: Type.String(),
  input_suffix: Type.String(),
  /** Other files, for context. */
  input_extra: optional(
    Type.Array(Type.Object({ filename: optional(Type.String()), text: Type.String() }), {
      maxItems: 1000,
    }),
  ),
  /** The beginning of the text in the gap, which the answer continues. */
  prompt: optional(Type.String()),
  stream: optional(Type.Boolean()),
  stop: optional(Type.Array(Type.String(), { maxItems: 64 })),
  /** The maximum number of tokens of the answer; -1, the default, for no maximum. */
  n_predict: optional(TokenLimit),
  /** The answer ends before a line that is indented by fewer spaces and tabs. */
  n_indent: optional(Type.Integer({ minimum: 0 })),
  /** In milliseconds. The answer ends after this time, if it contains a line break. 0 stands for no limit. */
  t_max_predict_ms: optional(Type.Number({ minimum: 0 })),
  ...formFields,
  ...samplingFields,
})
export type InfillRequest = Static<typeof InfillRequest>

export const ApplyTemplateRequest = Type.Object({ ...ChatRequest.properties, ...modelField })

export const PropsQuery = Type.Object({ model: Type.Optional(Type.String()) })

export const ModelsQuery = Type.Object({ all: Type.Optional(Type.Enum(['true', 'false'])) })
