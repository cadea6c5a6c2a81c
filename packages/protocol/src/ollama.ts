/**
 * Requests to the `/api` endpoints of the local daemon, in Ollama's API format. `docs/request-fields.md` lists all
 * fields.
 */
import Type, { type Static } from 'typebox'
import { optional } from './common.ts'
import { CallArguments, maxTools } from './inference.ts'

const AnyObject = Type.Unsafe<Record<string, unknown>>({ type: 'object' })
const Texts = Type.Array(Type.String())
const OneOrMoreTexts = Type.Unsafe<string | string[]>({
  type: ['string', 'array'],
  items: { type: 'string' },
})

export const ollamaOptions = Type.Object({
  temperature: optional(Type.Number({ minimum: 0 })),
  top_k: optional(Type.Integer()),
  top_p: optional(Type.Number({ minimum: 0, maximum: 1 })),
  min_p: optional(Type.Number({ minimum: 0, maximum: 1 })),
  seed: optional(Type.Integer()),
  num_predict: optional(Type.Integer()),
  num_ctx: optional(Type.Integer({ minimum: 1 })),
  stop: optional(OneOrMoreTexts),
  repeat_penalty: optional(Type.Number({ minimum: 0 })),
  repeat_last_n: optional(Type.Integer({ minimum: -1 })),
  presence_penalty: optional(Type.Number()),
  frequency_penalty: optional(Type.Number()),
})
export type OllamaOptions = Static<typeof ollamaOptions>

/** Either a number of seconds, or a Go duration such as `5m`. */
const KeepAlive = optional(Type.Unsafe<string | number>({ type: ['string', 'number'] }))

const modelField = { model: Type.String({ minLength: 1 }) }
/** `name` is Ollama's former name for `model`; some clients still use it. */
const modelOrName = {
  model: optional(Type.String()),
  name: optional(Type.String()),
}

const generationFields = {
  ...modelField,
  stream: optional(Type.Boolean()),
  options: optional(ollamaOptions),
  keep_alive: KeepAlive,
  format: optional(Type.Unsafe<string | object>({ type: ['string', 'object'] })),
  think: optional(Type.Unsafe<boolean | string>({ type: ['boolean', 'string'] })),
  truncate: optional(Type.Boolean()),
  logprobs: optional(Type.Boolean()),
  top_logprobs: optional(Type.Integer({ minimum: 0, maximum: 20 })),
}

const ToolCall = Type.Object({
  id: optional(Type.String()),
  function: Type.Object({
    name: Type.String({ minLength: 1 }),
    arguments: optional(CallArguments),
  }),
})

const Message = Type.Object({
  role: Type.Enum(['system', 'user', 'assistant', 'tool']),
  content: optional(Type.String()),
  thinking: optional(Type.String()),
  images: optional(Texts),
  tool_calls: optional(Type.Array(ToolCall)),
  tool_name: optional(Type.String()),
  tool_call_id: optional(Type.String()),
})
export type OllamaMessage = Static<typeof Message>

const Tool = Type.Object({
  function: Type.Object({
    name: Type.String({ minLength: 1 }),
    description: optional(Type.String()),
    parameters: optional(AnyObject),
  }),
})

export const OllamaChatRequest = Type.Object({
  ...generationFields,
  messages: optional(Type.Array(Message)),
  tools: optional(Type.Array(Tool, { maxItems: maxTools })),
})
export type OllamaChatRequest = Static<typeof OllamaChatRequest>

export const OllamaGenerateRequest = Type.Object({
  ...generationFields,
  prompt: optional(Type.String()),
  system: optional(Type.String()),
  raw: optional(Type.Boolean()),
  suffix: optional(Type.String()),
})
export type OllamaGenerateRequest = Static<typeof OllamaGenerateRequest>

export const OllamaEmbedRequest = Type.Object({
  ...modelField,
  input: optional(OneOrMoreTexts),
  truncate: optional(Type.Boolean()),
  dimensions: optional(Type.Integer({ minimum: 0 })),
  options: optional(ollamaOptions),
  keep_alive: KeepAlive,
})

/** For `/api/embeddings`, the predecessor of `/api/embed`. */
export const OllamaEmbeddingsRequest = Type.Object({
  ...modelField,
  prompt: optional(Type.String()),
  options: optional(ollamaOptions),
  keep_alive: KeepAlive,
})

export const OllamaShowRequest = Type.Object({
  ...modelOrName,
  verbose: optional(Type.Boolean()),
})

/** `allow_unknown_registry` is a shoal extension that states whether the user has agreed to use an unknown registry. */
export const OllamaPullRequest = Type.Object({
  ...modelOrName,
  stream: optional(Type.Boolean()),
  allow_unknown_registry: optional(Type.Boolean()),
})

/**
 * Creates a model from another one, with settings. `modelfile` is the form of Ollama's earlier API, with `FROM`,
 * `PARAMETER`, `SYSTEM` and `TEMPLATE`.
 */
export const OllamaCreateRequest = Type.Object({
  ...modelOrName,
  stream: optional(Type.Boolean()),
  /** The name of a model on this machine, or the SHA-256 of its file after `sha256:`. */
  from: optional(Type.String()),
  /** Maps one filename to the SHA-256 of a file on this machine. An alternative to `from`. */
  files: optional(Type.Record(Type.String(), Type.String(), { maxProperties: 1 })),
  system: optional(Type.String()),
  template: optional(Type.String()),
  parameters: optional(ollamaOptions),
  modelfile: optional(Type.String()),
  quantize: optional(Type.String()),
  adapters: optional(AnyObject),
  messages: optional(Type.Array(Type.Unknown())),
})
export type OllamaCreateRequest = Static<typeof OllamaCreateRequest>

export const OllamaDeleteRequest = Type.Object(modelOrName)

export const OllamaCopyRequest = Type.Object({
  source: Type.String({ minLength: 1 }),
  destination: Type.String({ minLength: 1 }),
})

/** `/api/load` and `/api/unload` are shoal's own endpoints. */
export const LoadRequest = Type.Object({
  ...modelField,
  keep_alive: KeepAlive,
  num_ctx: optional(Type.Integer({ minimum: 1 })),
})

export const UnloadRequest = Type.Object(modelField)

export const SharingRequest = Type.Object({ paused: Type.Boolean() })
