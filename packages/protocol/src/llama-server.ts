/**
 * Requests to the local daemon in the format of llama.cpp's server
 * (https://github.com/ggml-org/llama.cpp/tree/master/tools/server), with `model`. If `model` is absent, the only loaded
 * model is used.
 */
import Type from 'typebox'
import { optional } from './common.ts'
import { ChatRequest } from './inference.ts'

const modelField = { model: optional(Type.String()) }

export const TokenizeRequest = Type.Object({
  ...modelField,
  content: Type.String(),
  add_special: optional(Type.Boolean()),
  parse_special: optional(Type.Boolean()),
  with_pieces: optional(Type.Boolean()),
})

export const DetokenizeRequest = Type.Object({
  ...modelField,
  tokens: Type.Array(Type.Integer({ minimum: 0 })),
})

export const ApplyTemplateRequest = Type.Object({ ...ChatRequest.properties, ...modelField })

export const PropsQuery = Type.Object({ model: Type.Optional(Type.String()) })

export const ModelsQuery = Type.Object({ all: Type.Optional(Type.Enum(['true', 'false'])) })
