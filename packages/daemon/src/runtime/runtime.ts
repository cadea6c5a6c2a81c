/** One loaded model. The seam between the API and what computes. */
export type Runtime = {
  facts: ModelFacts
  /** Yields text as it comes; returns how it ended. Rejects with a `PromptError` or a `RuntimeGoneError`. */
  generate(generation: Generation, signal: AbortSignal): AsyncGenerator<Piece, Finish>
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
}

export type StartRuntime = (options: RuntimeOptions, signal?: AbortSignal) => Promise<Runtime>

export type ModelFacts = {
  contextLength: number
  slots: number
  chatTemplate: string | undefined
}

export type ChatMessage = {
  role: string
  content: string
  name?: string
  tool_calls?: unknown[]
  tool_call_id?: string
}

export type Prompt =
  | { text: string }
  | { messages: ChatMessage[]; tools?: unknown[]; variables?: Record<string, unknown> }

export type Sampling = {
  temperature: number
  topP: number
  topK: number
  minP: number
  seed: number | undefined
  presencePenalty: number
  frequencyPenalty: number
  /** Added to the logits, by token id. */
  logitBias: [token: number, bias: number][]
}

export type Generation = {
  prompt: Prompt
  maxTokens: number | undefined
  /** The answer ends before the first of these. */
  stop: string[]
  sampling: Sampling
  /** What the answer has to be: any JSON, or JSON of a schema. */
  json: true | object | undefined
  /** How many alternatives to tell for each token; undefined for no logprobs at all. */
  topLogprobs: number | undefined
}

export type TokenLogprob = { token: string; logprob: number; bytes: number[] }
export type TokenLogprobs = TokenLogprob & { top_logprobs: TokenLogprob[] }

export type Piece = { text: string; logprobs?: TokenLogprobs[] }

export type Finish = {
  reason: 'stop' | 'length'
  promptTokens: number
  /** Of the prompt, those that were still in memory from before. */
  cachedTokens: number
  completionTokens: number
  /** Milliseconds from when a slot was free to the first token. */
  firstTokenMs: number
  generationMs: number
}

/** The prompt is at fault. */
export class PromptError extends Error {
  override name = 'PromptError'
  readonly code: 'context_length_exceeded' | 'template_failed' | 'schema_refused'
  constructor(code: PromptError['code'], message: string) {
    super(message)
    this.code = code
  }
}

/** The process that ran the model is no more. The next request may have another. */
export class RuntimeGoneError extends Error {
  override name = 'RuntimeGoneError'
}
