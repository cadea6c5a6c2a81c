/** Requests to the local daemon in OpenAI's API format. `docs/request-fields.md` lists all fields. */
import Type, { type Static } from 'typebox'
import { optional } from './common.ts'

const ContentPart = Type.Object({
  type: Type.String(),
  image_url: Type.Optional(Type.Unknown()),
  file: Type.Optional(Type.Unknown()),
  text: Type.Optional(Type.String()),
  refusal: Type.Optional(Type.String()),
})

/**
 * The maximum number of tools. OpenAI allows 128 and llama.cpp's server any number, but each tool takes time to render.
 */
export const maxTools = 1024

/** The maximum number of tokens in an answer. As in llama.cpp's server, -1 stands for no maximum. */
export const TokenLimit = Type.Integer({ minimum: -1 })

/** The arguments of a call: JSON text as in OpenAI's API, or an object as in Ollama's. */
export const CallArguments = Type.Unsafe<string | object>({ type: ['string', 'object'] })

const ToolCall = Type.Union([
  Type.Object({
    id: Type.String(),
    type: Type.Literal('function'),
    function: Type.Object({ name: Type.String(), arguments: CallArguments }),
  }),
  Type.Object({
    id: Type.String(),
    type: Type.Literal('custom'),
    custom: Type.Object({ name: Type.String(), input: Type.String() }),
  }),
])

const Message = Type.Object({
  role: Type.Enum(['system', 'developer', 'user', 'assistant', 'tool']),
  content: Type.Optional(
    Type.Union([Type.String(), Type.Array(ContentPart, { minItems: 1 }), Type.Null()]),
  ),
  /** The text of a refusal, in an assistant message that contains a refusal instead of `content`. */
  refusal: optional(Type.String()),
  name: optional(Type.String()),
  reasoning_content: optional(Type.String()),
  /** vLLM's and OpenRouter's name for `reasoning_content`. */
  reasoning: optional(Type.String()),
  tool_calls: optional(Type.Array(ToolCall)),
  tool_call_id: optional(Type.String()),
})

const ToolFunction = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 256 }),
  description: optional(Type.String()),
  parameters: optional(Type.Object({})),
})

const CustomTool = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 256 }),
  description: optional(Type.String()),
  format: optional(Type.Object({})),
})

const NamedTool = Type.Union([
  Type.Object({
    type: Type.Literal('function'),
    function: Type.Object({ name: Type.String() }),
  }),
  Type.Object({
    type: Type.Literal('custom'),
    custom: Type.Object({ name: Type.String() }),
  }),
])

const ToolChoice = Type.Union([
  Type.Enum(['none', 'auto', 'required']),
  NamedTool,
  Type.Object({
    type: Type.Literal('allowed_tools'),
    allowed_tools: Type.Object({
      mode: Type.Enum(['auto', 'required']),
      tools: Type.Array(NamedTool, { minItems: 1, maxItems: maxTools }),
    }),
  }),
  Type.Null(),
])

const ResponseFormat = Type.Object({
  type: Type.Enum(['text', 'json_object', 'json_schema']),
  /** The schema of a `json_object`, as in llama.cpp's server. */
  schema: optional(Type.Object({})),
  json_schema: Type.Optional(
    Type.Object({ name: Type.Optional(Type.String()), schema: Type.Optional(Type.Object({})) }),
  ),
})

const Regex = Type.String({ maxLength: 10_000 })
const Choices = Type.Array(Type.String(), { minItems: 1, maxItems: 50_000 })
/** A grammar in GBNF (https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md). */
const Gbnf = Type.String({ maxLength: 100_000 })
/** A JSON schema, as an object or as JSON text. */
const SchemaOrText = Type.Unsafe<object | string>({ type: ['object', 'string'] })

/**
 * The form of the answer, in the formats of OpenAI (`response_format`), llama.cpp's server (`grammar`, `json_schema`)
 * and vLLM (all others). Only one of these fields may be used at a time.
 */
export const formFields = {
  response_format: optional(ResponseFormat),
  grammar: optional(Gbnf),
  json_schema: optional(Type.Object({})),
  structured_outputs: optional(
    Type.Object({
      json: optional(SchemaOrText),
      regex: optional(Regex),
      choice: optional(Choices),
      grammar: optional(Gbnf),
      json_object: optional(Type.Boolean()),
    }),
  ),
  guided_json: optional(SchemaOrText),
  guided_regex: optional(Regex),
  guided_choice: optional(Choices),
  guided_grammar: optional(Gbnf),
}

const Probability = Type.Number({ minimum: 0, maximum: 1 })
const TokenCount = Type.Integer({ minimum: 0 })

export const samplingFields = {
  temperature: optional(Type.Number({ minimum: 0, maximum: 2 })),
  top_p: optional(Probability),
  /** 0 and -1 turn the filter off, as in llama.cpp's server and vLLM. */
  top_k: optional(Type.Integer({ minimum: -1 })),
  min_p: optional(Probability),
  /** Without a seed, or with -1, each answer has its own random seed. */
  seed: optional(Type.Integer()),
  presence_penalty: optional(Type.Number({ minimum: -2, maximum: 2 })),
  frequency_penalty: optional(Type.Number({ minimum: -2, maximum: 2 })),
  logit_bias: optional(Type.Record(Type.String(), Type.Number({ minimum: -100, maximum: 100 }))),
  /**
   * The repetition penalty of llama.cpp's server; 1, the default, means none. It applies to the last `repeat_last_n`
   * tokens, including the prompt (default: 64; 0 turns off all penalties, -1 stands for all tokens).
   */
  repeat_penalty: optional(Type.Number({ minimum: 0 })),
  repeat_last_n: optional(Type.Integer({ minimum: -1 })),
  /** vLLM's repetition penalty, which applies to all tokens of the prompt and the answer. */
  repetition_penalty: optional(Type.Number({ minimum: 0 })),
  /** Whether the answer goes on until the maximum number of tokens (llama.cpp's server, vLLM). */
  ignore_eos: optional(Type.Boolean()),
  /** The minimum number of tokens of the answer (vLLM). */
  min_tokens: optional(TokenCount),
  /** The DRY and XTC samplers, with the defaults of llama.cpp's server. DRY considers only the answer. */
  dry_multiplier: optional(Type.Number({ minimum: 0 })),
  dry_base: optional(Type.Number({ minimum: 1 })),
  dry_allowed_length: optional(TokenCount),
  dry_penalty_last_n: optional(Type.Integer({ minimum: -1 })),
  dry_sequence_breakers: optional(Type.Array(Type.String(), { minItems: 1, maxItems: 100 })),
  xtc_probability: optional(Probability),
  xtc_threshold: optional(Probability),
  /** The samplers to use, in their usual order (llama.cpp's server). All others are turned off. */
  samplers: optional(Type.Array(Type.String(), { maxItems: 20 })),
}

const generationFields = {
  model: Type.String({ minLength: 1 }),
  stream: optional(Type.Boolean()),
  stream_options: optional(Type.Object({ include_usage: optional(Type.Boolean()) })),
  stop: Type.Optional(
    Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 64 }), Type.Null()]),
  ),
  n: optional(Type.Integer({ minimum: 1, maximum: 16 })),
  max_tokens: optional(TokenLimit),
  /** The name of `max_tokens` in llama.cpp's server. It takes precedence. */
  n_predict: optional(TokenLimit),
  ...formFields,
  ...samplingFields,
}

/** In tokens; -1 for no maximum. The first two names are those of llama.cpp's server, and the third is vLLM's. */
export const reasoningFields = {
  thinking_budget_tokens: optional(TokenLimit),
  reasoning_budget_tokens: optional(TokenLimit),
  thinking_token_budget: optional(TokenLimit),
}

export const ChatRequest = Type.Object({
  ...generationFields,
  messages: Type.Array(Message, { minItems: 1 }),
  max_completion_tokens: optional(TokenLimit),
  logprobs: optional(Type.Boolean()),
  top_logprobs: optional(Type.Integer({ minimum: 0, maximum: 20 })),
  tools: optional(
    Type.Array(
      Type.Object({
        type: Type.String(),
        function: Type.Optional(ToolFunction),
        custom: Type.Optional(CustomTool),
      }),
      { maxItems: maxTools },
    ),
  ),
  tool_choice: Type.Optional(ToolChoice),
  parallel_tool_calls: optional(Type.Boolean()),
  reasoning_effort: optional(Type.String()),
  ...reasoningFields,
  /**
   * Whether the answer continues the final message, if that is an assistant message. The default is true, as in
   * llama.cpp's server.
   */
  continue_final_message: optional(Type.Boolean()),
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
  /** The text after the answer, for models that can fill in the middle. */
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
