import { AppError, hasCode } from '@shoal/core/errors'
/** One loaded model: the interface between the API and the inference engine. */
export type Runtime = {
  facts: ModelFacts
  /** Yields text as it is generated; returns how it ended. Rejects with a prompt error or `model_lost`. */
  generate(generation: Generation, signal: AbortSignal): AsyncGenerator<Piece, Finish>
  /** Vectors of length 1, in the order of the texts. Rejects as `generate` does. */
  embed(texts: (string | number[])[], signal: AbortSignal): Promise<Embeddings>
  /** Of its process. */
  pid: number
  /** Resolves when it has ended, with a sentence that explains why if it was not requested. */
  ended: Promise<string | undefined>
  close(): Promise<void>
}

export type RuntimeOptions = {
  modelPath: string
  /** Context length of one conversation, in tokens. */
  contextLength: number
  /** Concurrent conversations. */
  slots: number
  /** Threads for computing. */
  threads: number
  /** Whether to use fewer threads if that is faster, as on a busy machine. Default: no. */
  areThreadsAdapted?: boolean
  /** The folder of backends for graphics cards, if any. */
  backendsDirectory?: string | undefined
}

export type StartRuntime = (options: RuntimeOptions, signal?: AbortSignal) => Promise<Runtime>

export type ModelFacts = {
  contextLength: number
  slots: number
  /** False for an encoder, which can only embed. */
  canGenerate: boolean
  /** Maximum tokens of a text to embed. */
  embeddingContextLength: number
}

export type ChatMessage = {
  role: string
  content: string
  name?: string
  /** The model's reasoning before this answer. */
  reasoning_content?: string
  /** As in OpenAI's API, arguments as JSON text. */
  tool_calls?: ToolCall[]
  tool_call_id?: string
}

export type ToolCall = {
  id: string
  type: 'function'
  function: { name: string; arguments: string }
}

export type Tool = {
  type: 'function'
  function: { name: string; description?: string; parameters?: object }
}

export type Chat = {
  messages: ChatMessage[]
  tools: Tool[]
  /** Whether a tool may or must be called, or which one must be. */
  toolChoice: 'auto' | 'none' | 'required' | { name: string }
  /** Maximum number of calls in an answer; undefined for any number. */
  maxCalls?: number
  /** For the chat template, such as `enable_thinking`. */
  variables: Record<string, unknown>
}

/** Text and tokens are used as they are; a chat is rendered with the model's template. */
export type Prompt = { text: string } | { tokens: number[] } | { chat: Chat }

export type Sampling = {
  temperature: number
  topP: number
  topK: number
  minP: number
  seed: number | undefined
  presencePenalty: number
  frequencyPenalty: number
  /** 1 for none. */
  repeatPenalty: number
  /** How many of the last tokens the penalties consider; undefined for all of the answer's. */
  repeatLastTokens: number | undefined
  /** Added to the logits, by token ID. */
  logitBias: [token: number, bias: number][]
}

export type Generation = {
  prompt: Prompt
  maxTokens: number | undefined
  /** The answer ends before the first of these. */
  stop: string[]
  sampling: Sampling
  /** What the answer must be: any JSON object, or JSON that matches a schema. */
  json: true | object | undefined
  /** How many alternatives to return for each token; undefined for no logprobs. */
  topLogprobs: number | undefined
}

export type TokenLogprob = { token: string; logprob: number; bytes: number[] }
export type TokenLogprobs = TokenLogprob & { top_logprobs: TokenLogprob[] }

/** A part of an answer as it is generated: text, reasoning, or a complete tool call. */
export type Piece = {
  text?: string
  reasoning?: string
  /** Calls come one after the other. `arguments` is JSON text. */
  toolCall?: { name: string; arguments: string }
  logprobs?: TokenLogprobs[]
}

export type Finish = {
  reason: 'stop' | 'length' | 'tool_calls'
  promptTokens: number
  /** Tokens of the prompt that were still in memory. */
  cachedTokens: number
  completionTokens: number
  /** Tokens of the answer that are reasoning. */
  reasoningTokens: number
  /** Milliseconds from when a slot was free to the first token. */
  firstTokenMs: number
  generationMs: number
}

export type Embeddings = { vectors: Float32Array[]; promptTokens: number }

const promptCodes = [
  'context_length_exceeded',
  'template_failed',
  'schema_refused',
  'tool_refused',
  'unknown_token',
  'not_generative',
] as const

export type PromptCode = (typeof promptCodes)[number]

/** The prompt is invalid. `param` is the parameter, if the code does not imply it. */
export const promptError = (
  code: PromptCode,
  message: string,
  { param, cause }: { param?: string | undefined; cause?: unknown } = {},
) => new AppError(code, message, { param }, { cause })

export const isPromptError = (error: unknown) => hasCode(error, ...promptCodes)

/** The process that ran the model has ended. The next request may get another one. */
export const modelLost = (message = '') => new AppError('model_lost', message, {})
