/**
 * Requests to the local daemon in the format of llama.cpp's server
 * (https://github.com/ggml-org/llama.cpp/tree/master/tools/server), with the additional field `model`. If `model` is
 * absent, the only loaded model is used.
 */
import Type from 'typebox'
import { optional } from './common.ts'
import { ChatRequest } from './inference.ts'

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

export const ApplyTemplateRequest = Type.Object({ ...ChatRequest.properties, ...modelField })

export const PropsQuery = Type.Object({ model: Type.Optional(Type.String()) })

export const ModelsQuery = Type.Object({ all: Type.Optional(Type.Enum(['true', 'false'])) })
