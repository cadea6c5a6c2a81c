import { AppError, hasCode, type Overflow } from '@shoal/core/errors'
import type { ProcessEnd } from '@shoal/core/rpc'

/** One loaded model: the interface between the API and the inference engine. */
export type Runtime = {
  facts: ModelFacts
  /**
   * Yields an answer's parts as they are generated. Returns why the answer ended, with token counts and times. The
   * first part has only `prompt` and is yielded when the request is admitted. A request is admitted if its prompt fits
   * in the context, its schema is valid, and it has a slot. Rejects with a prompt error, which always comes before the
   * first part, or with `model_lost`.
   */
  generate(generation: Generation, signal: AbortSignal): AsyncGenerator<Piece, Finish>
  /** Returns a unit vector for each text, in the order of the texts. Rejects with the same errors as `generate`. */
  embed(
    texts: (string | number[])[],
    signal: AbortSignal,
    options?: EmbedOptions,
  ): Promise<Embeddings>
  /**
   * Returns a score for each pair of a query and a document, in the order of the pairs: the higher the score, the more
   * relevant the document. Rejects with the same errors as `embed`.
   */
  rank(
    pairs: [query: string, document: string][],
    signal: AbortSignal,
    options?: RankOptions,
  ): Promise<Ranking>
  /**
   * Resolves to the number of tokens in a prompt, which is an estimate if it is several times the context length.
   * Rejects with a prompt error or `model_lost`.
   */
  countTokens(prompt: Prompt): Promise<number>
  /** Resolves to the text of a chat's prompt. Rejects with a prompt error or `model_lost`. */
  applyTemplate(prompt: ChatToRender): Promise<string>
  /** Resolves to the tokens of a text. Rejects with `model_lost`. */
  tokenize(text: TextToTokenize): Promise<number[]>
  /** Resolves to the bytes of each token. Rejects with `unknown_token` or `model_lost`. */
  tokenBytes(tokens: number[]): Promise<number[][]>
  /** Frees the memory of cached conversations that have no slot, and of the context for embeddings. */
  freeCache(): Promise<void>
  /** The ID of the runtime's process. */
  pid: number
  /**
   * Resolves when the process has exited: to a sentence that explains why, or to undefined if the exit was requested.
   */
  ended: Promise<string | undefined>
  close(): Promise<void>
}

export type RuntimeOptions = {
  modelPath: string
  /** The name of the model in the metrics. */
  modelId?: string
  /** The context length of one conversation, in tokens. */
  contextLength: number
  /** The maximum number of concurrent conversations. */
  slots: number
  /** The number of compute threads. */
  threads: number
  /** Whether to use fewer threads if that is faster, as on a busy machine. The default is false. */
  areThreadsAdapted?: boolean
  /** The chat template in place of the one in the file. */
  template?: string | undefined
  /** See `Generation`. It applies to requests that have none. */
  reasoningBudget?: number | undefined
  /** The folder of GPU backends, if there is one. */
  backendsDirectory?: string | undefined
  /**
   * The limits of texts to embed or to rank: the number of tokens, up to the model's own context length, and the memory
   * for their context. A text of 2048 tokens is always allowed if the model's context is that long. By default, only the
   * model and the memory of the machine limit the texts.
   */
  embedding?: { maxTokens?: number | undefined; maxBytes?: number } | undefined
  /** The limits of the cache for conversations that have no slot; undefined for no cache. */
  promptCache?: { maxBytes: number; bytesPerToken: number; minTokens?: number } | undefined
}

export type TextToTokenize = {
  text: string
  /** Whether to add the tokens with which the model's prompts begin. */
  addSpecial: boolean
  /** Whether special tokens are recognized in the text. */
  parseSpecial: boolean
}

/**
 * Loads a model. Rejects with `model_unusable` if the file can never be loaded, with `model_lost` if the process ends,
 * and with any other error if the model might be loaded later.
 */
export type StartRuntime = (options: RuntimeOptions, signal?: AbortSignal) => Promise<Runtime>

export type ModelFacts = {
  contextLength: number
  slots: number
  /** False for a model that can only create embeddings or rank documents. */
  canGenerate: boolean
  /** Whether the model has the tokens for prompts with a gap. */
  canFillGaps: boolean
  /** The context length for embeddings, in tokens. A longer text is always refused. */
  embeddingContextLength: number
  /** The maximum number of bytes of text that one token can stand for; infinite if there is no maximum. */
  longestTokenBytes: number
}

export type ChatMessage = {
  role: string
  content: string
  name?: string
  /** The model's reasoning before this message. */
  reasoning_content?: string
  /** Tool calls in OpenAI's format, with arguments as JSON text. */
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

type Described = {
  name: string
  description?: string | null | undefined
  parameters?: object | null | undefined
}

/** Creates a tool. Leaves out a description or schema that is missing, because templates would print it. */
export const makeTool = ({ description, parameters, ...others }: Described): Tool => ({
  type: 'function',
  function: { ...others, ...(description && { description }), ...(parameters && { parameters }) },
})

/** Creates a call. `given` contains its arguments: JSON text, or an object. */
export const makeCall = (
  id: string,
  name: string,
  given: string | object | null | undefined,
): ToolCall => ({
  id,
  type: 'function',
  function: {
    name,
    arguments: (typeof given === 'string' ? given : JSON.stringify(given ?? {})) || '{}',
  },
})

export type Chat = {
  messages: ChatMessage[]
  tools: Tool[]
  /** Whether the model may or must call a tool, or which tool it must call. */
  toolChoice: 'auto' | 'none' | 'required' | { name: string }
  /** The maximum number of calls in an answer; undefined for any number. */
  maxCalls?: number
  /** Whether the last message is the beginning of the answer, which the model continues. */
  isContinued?: boolean
  /** Variables for the chat template, such as `enable_thinking`. */
  variables: Record<string, unknown>
}

/**
 * Whether the last message is the beginning of an answer. In a chat completion, as in llama.cpp's server, and in
 * Ollama's API, the answer continues such a message. If it contains calls, it is complete.
 */
export function isUnfinished(messages: readonly ChatMessage[]): boolean {
  const last = messages.at(-1)
  return last?.role === 'assistant' && last.tool_calls === undefined
}

/** A chat, and the form that its answer must have. The prompt may depend on this form. */
export type ChatToRender = { chat: Chat; form: AnswerForm | undefined }

/** Whether the answer must be a tool call. */
export const isForced = ({ toolChoice }: Chat): boolean =>
  toolChoice === 'required' || typeof toolChoice === 'object'

/** Text with a gap that the answer fills, for models that were trained to fill in the middle. */
export type Gap = {
  before: string
  after: string
  /** Other files, for context. */
  files: { filename: string; text: string }[]
  /** The beginning of the text in the gap, which the answer continues. */
  begun: string
}

/** Text and tokens are used unchanged; a chat is rendered with the model's template. */
export type Prompt = { text: string } | { tokens: number[] } | { gap: Gap } | { chat: Chat }

export type Sampling = {
  temperature: number
  topP: number
  topK: number
  minP: number
  /** Any number. A request without a seed gets a random one. */
  seed: number
  presencePenalty: number
  frequencyPenalty: number
  /** The repetition penalty; 1 means no penalty. */
  repeatPenalty: number
  /**
   * The number of most recent tokens to which the penalties apply, including tokens of the prompt. It may be infinite.
   * Undefined for all tokens of the answer, and none of the prompt.
   */
  repeatLastTokens: number | undefined
  /** The answer has at least this many tokens: tokens that end it are forbidden until then. The default is 0. */
  minTokens?: number
  /** Exclude Top Choices: with this probability, likely tokens are removed, except the least likely of them. */
  xtc?: { probability: number; threshold: number }
  /** Don't Repeat Yourself: penalizes tokens that continue a repetition within the answer. */
  dry?: Dry
  /** Values that are added to the logits, by token ID. */
  logitBias: [token: number, bias: number][]
}

/** The parameters have the meaning that they have in llama.cpp's server. */
export type Dry = {
  multiplier: number
  base: number
  allowedLength: number
  /** The number of most recent tokens of the answer that are searched. It may be infinite. */
  lastTokens: number
  sequenceBreakers: string[]
}

/** The form that an answer must have. `param` is the name of the request's parameter that contains it. */
export type AnswerForm = { param: string } & FormSource
export type FormSource =
  /** JSON that matches a schema. */
  | { schema: object }
  /** Text that a regular expression matches from beginning to end. */
  | { pattern: string }
  /** One of these texts. */
  | { choices: string[] }
  /** Text that matches a grammar in GBNF, llama.cpp's format. */
  | { gbnf: string }

/** Zero stands for no limit. */
export type LineLimits = {
  /** The answer ends before a line that is indented by fewer spaces and tabs, except for its first line. */
  minIndent: number
  /** The answer ends as soon as it contains a line break and this time has passed since its first token. */
  maxMs: number
}

export type Generation = {
  prompt: Prompt
  maxTokens: number | undefined
  /**
   * The maximum number of tokens of the reasoning, after which it is ended; -1 for no maximum. The default is that of
   * the runtime.
   */
  reasoningBudget?: number | undefined
  /** The answer ends before the first occurrence of one of these strings. */
  stop: string[]
  /** The limits of llama.cpp's server for code completion in editors. */
  lines?: LineLimits | undefined
  sampling: Sampling
  /** The form that the answer must have; undefined for any text. */
  form: AnswerForm | undefined
  /** The number of alternatives to return for each token; undefined for no log probabilities. */
  topLogprobs: number | undefined
  /**
   * Whether a prompt that does not fit in the context is shortened instead of refused. In a chat, the oldest messages
   * are dropped, except system messages and the user's last message. In a plain-text prompt, the beginning is dropped.
   * The default is false.
   */
  truncates?: boolean
}

export type TokenLogprob = { token: string; logprob: number; bytes: number[] }
export type TokenLogprobs = TokenLogprob & { top_logprobs: TokenLogprob[] }

/** A part of an answer as it is generated: text, reasoning, or a part of a tool call. */
export type Piece = {
  /** The token counts of the prompt, in the first part. */
  prompt?: Pick<Finish, 'promptTokens' | 'cachedTokens'>
  text?: string
  reasoning?: string
  /**
   * The beginning of a tool call. `arguments` is JSON text or its beginning. Each of several parallel calls begins with
   * a separate part.
   */
  toolCall?: { name: string; arguments: string }
  /** Continues the arguments of the tool call that began last. */
  argumentsDelta?: string
  logprobs?: TokenLogprobs[]
}

/** Whether a part of an answer has no output, like the part that is yielded when a request is admitted. */
export const isEmpty = ({ prompt, ...output }: Piece): boolean => Object.keys(output).length === 0

export type Finish = {
  reason: 'stop' | 'length' | 'tool_calls'
  /** The stop string that ended the answer, if one did. */
  stopString?: string | undefined
  promptTokens: number
  /** Prompt tokens, included in `promptTokens`, that were in memory and did not have to be processed again. */
  cachedTokens: number
  /** Includes the token that ends the answer, as in llama-server. */
  completionTokens: number
  /** Tokens of the answer that are reasoning. */
  reasoningTokens: number
  /** Milliseconds from the start of prompt processing to the first token. Excludes the wait for a slot. */
  firstTokenMs: number
  generationMs: number
}

/** `truncates`: whether a text that is too long is shortened at the end instead of refused. The default is false. */
export type EmbedOptions = { truncates?: boolean }

/** `truncated`: the indices of the texts that were shortened. */
export type Embeddings = { vectors: Float32Array[]; promptTokens: number; truncated: number[] }

/** `isRaw`: whether the scores are the model's own output instead of numbers from 0 to 1. The default is false. */
export type RankOptions = EmbedOptions & { isRaw?: boolean }

/** `truncated`: the indices of the pairs whose documents were shortened. */
export type Ranking = { scores: number[]; promptTokens: number; truncated: number[] }

const promptCodes = [
  'template_failed',
  'schema_refused',
  'tool_refused',
  'unknown_token',
  'not_generative',
  'not_embedding',
  'not_ranking',
] as const

export type PromptCode = (typeof promptCodes)[number]

/**
 * Creates an error for an invalid prompt. `param` is the name of the invalid parameter. It may be omitted if the code
 * implies the name.
 */
export const promptError = (
  code: PromptCode,
  message: string,
  { param, cause }: { param?: string | undefined; cause?: unknown } = {},
) => new AppError(code, message, { param }, { cause })

/** Creates the error for a prompt that does not fit in the context. Each API reports it in its own words. */
export function promptTooLong(overflow: Overflow) {
  const { promptTokens, isMinimum, contextLength } = overflow
  const count = `${isMinimum ? 'at least ' : ''}${promptTokens}`
  const message = `the prompt has ${count} tokens, which leaves no room for an answer: the context length is ${contextLength}`
  return new AppError('context_length_exceeded', message, { overflow })
}

export const isPromptError = (error: unknown) =>
  hasCode(error, 'context_length_exceeded', ...promptCodes)

/** Creates the error for a request that failed in the model's process, or whose process was unloaded. */
export const modelLost = (message: string) => new AppError('model_lost', message, {})

/** Creates the error for a file that can never be loaded. */
export const modelUnusable = (message: string, cause?: unknown) =>
  new AppError('model_unusable', message, {}, { cause })

/** The signals with which a process ends itself because of a fault in its own code. Other signals come from outside. */
const faultSignals = ['SIGSEGV', 'SIGABRT', 'SIGBUS', 'SIGILL', 'SIGFPE', 'SIGTRAP', 'SIGSYS']

/**
 * Creates the error for a request whose process has ended unexpectedly. The next request starts a new process. A process
 * that the system kills because of a lack of memory was killed from outside, by SIGKILL.
 */
export function processLost({ killedBy, how }: Omit<ProcessEnd, 'code'>) {
  const isFault = killedBy === null || faultSignals.includes(killedBy)
  const exit = isFault ? 'crashed' : 'killed'
  return new AppError('model_lost', `the model's process ${how}`, { exit })
}
