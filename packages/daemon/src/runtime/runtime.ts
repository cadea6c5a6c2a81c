import { AppError, hasCode } from '@shoal/core/errors'
/** One loaded model. The seam between the API and what computes. */
export type Runtime = {
  facts: ModelFacts
  /** Yields text as it comes; returns how it ended. Rejects with a prompt error or `model_lost`. */
  generate(generation: Generation, signal: AbortSignal): AsyncGenerator<Piece, Finish>
  /** Vectors of length 1, in the order of the texts. Rejects as `generate` does. */
  embed(texts: (string | number[])[], signal: AbortSignal): Promise<Embeddings>
  /** Of its process. */
  pid: number
  /** Resolves when it is gone, with a sentence that says why where nobody asked for it. */
  ended: Promise<string | undefined>
  close(): Promise<void>
}

export type RuntimeOptions = {
  modelPath: string
  /** Tokens that one conversation may hold. */
  contextLength: number
  /** Conversations at a time. */
  slots: number
  /** Threads that compute. */
  threads: number
  /** Whether fewer may compute where that is faster, as on a busy machine. Default: no. */
  areThreadsAdapted?: boolean
  /** Where backends for graphics cards may be. */
  backendsDirectory?: string | undefined
}

export type StartRuntime = (options: RuntimeOptions, signal?: AbortSignal) => Promise<Runtime>

export type ModelFacts = {
  contextLength: number
  slots: number
  /** False for an encoder, which can only embed. */
  canGenerate: boolean
  /** Tokens that one text to embed may have. */
  embeddingContextLength: number
}

export type ChatMessage = {
  role: string
  content: string
  name?: string
  /** What a model thought before this answer of it. */
  reasoning_content?: string
  /** In the shape of OpenAI's API, arguments as JSON text. */
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
  /** Whether a tool may be called, has to be, or which one has to be. */
  toolChoice: 'auto' | 'none' | 'required' | { name: string }
  /** How many calls one answer may have; undefined for any number. */
  maxCalls?: number
  /** For the chat template, such as `enable_thinking`. */
  variables: Record<string, unknown>
}

/** Text and tokens are read as they are; a chat is put into the words of the model's own template. */
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
  /** How many of the last tokens the penalties look at; undefined for all of the answer's. */
  repeatLastTokens: number | undefined
  /** Added to the logits, by token id. */
  logitBias: [token: number, bias: number][]
}

export type Generation = {
  prompt: Prompt
  maxTokens: number | undefined
  /** The answer ends before the first of these. */
  stop: string[]
  sampling: Sampling
  /** What the answer has to be: any JSON object, or JSON of a schema. */
  json: true | object | undefined
  /** How many alternatives to tell for each token; undefined for no logprobs at all. */
  topLogprobs: number | undefined
}

export type TokenLogprob = { token: string; logprob: number; bytes: number[] }
export type TokenLogprobs = TokenLogprob & { top_logprobs: TokenLogprob[] }

/** A part of an answer as it comes: some text, some of what the model thinks before it, or a whole call of a tool. */
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
  /** Of the prompt, those that were still in memory from before. */
  cachedTokens: number
  completionTokens: number
  /** Of those, what the model thought before its answer. */
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

/** The prompt is at fault. `param` is the parameter, if the code does not say. */
export const promptError = (
  code: PromptCode,
  message: string,
  { param, cause }: { param?: string | undefined; cause?: unknown } = {},
) => new AppError(code, message, { param }, { cause })

export const isPromptError = (error: unknown) => hasCode(error, ...promptCodes)

/** The process that ran the model has ended. The next request may have another. */
export const modelLost = (message = '') => new AppError('model_lost', message, {})
