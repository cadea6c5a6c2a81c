/** The typed client for an inference daemon, used by the CLI and the chat page. */
import type { ChatRequest } from '../inference.ts'
import { parseRetryAfter } from '../retry-after.ts'
import { DaemonError, DaemonGoneError, parseDaemonError } from './errors.ts'
import { type AnswerEnd, type AnswerPart, readAnswer } from './read-answer.ts'
import { type Call, type RegistryCalls, registryCalls } from './registry-calls.ts'
import type { InferenceAnswer, InferenceTransport } from './transport.ts'

export type { ChatRequest } from '../inference.ts'
export { DaemonError, DaemonGoneError } from './errors.ts'
export type { AnswerEnd, AnswerPart, Usage } from './read-answer.ts'
export type {
  DaemonRegistry,
  RegistryFile,
  RegistryModel,
  RegistryOptions,
  RegistryPage,
  RegistryQuery,
} from './registry-calls.ts'
export {
  fetchInference,
  type InferenceAnswer,
  type InferenceRequest,
  type InferenceTransport,
} from './transport.ts'

/** A plain-text message in a chat. */
export type ChatMessage = { role: 'system' | 'user' | 'assistant'; content: string }

/** A model on the daemon's machine, as returned by `GET /api/tags`. */
export type ListedModel = {
  name: string
  size: number
  details: { parameter_size: string; quantization_level: string }
  capabilities?: string[]
}

/** A model that the daemon has loaded, as returned by `GET /api/ps`. */
export type LoadedModel = {
  name: string
  model: string
  details?: { quantization_level?: string }
  context_length: number
  file_size_bytes: number
  memory_bytes: number
  /** Number of requests in progress or queued. */
  requests: number
  loaded_at: string
  /**
   * When the model will be unloaded if it stays idle. For a model that stays loaded, this is about 292 years in the
   * future, as in Ollama.
   */
  expires_at: string
  /** The user's settings for the model, if there are any. */
  preset?: object
  /** How long the model has been idle; null while it has requests. */
  idle_seconds: number | null
}

/** The state of file sharing, as returned by `GET /api/sharing`. */
export type SharingStatus = {
  enabled: boolean
  /** The error that stopped sharing; null if there was none. */
  error: string | null
  /** Whether the first scan of the models folder is still in progress. */
  looking: boolean
  paused: boolean
  port: number | null
  bytes_per_second: number
  files: { name: string; peers: number; uploaded_bytes: number; done: boolean }[]
}

/**
 * A client for one daemon. Every call rejects with a `DaemonError` for an error response, and with a `DaemonGoneError`
 * if there was no usable response. If the signal was aborted, the call rejects with the signal's reason.
 */
export interface InferenceClient extends RegistryCalls {
  /** The URL of the daemon, as passed to the transport. */
  readonly url: string
  /**
   * Resolves if the daemon responds. `pid` is its process ID.
   * @example
   * const { pid } = await daemon.health()
   */
  health(signal?: AbortSignal): Promise<{ status?: string; pid?: number }>
  /**
   * Whether the model is on the daemon's machine.
   * @example
   * const isHere = await daemon.hasModel('tide')
   */
  hasModel(model: string, signal?: AbortSignal): Promise<boolean>
  /**
   * Lists the models on the daemon's machine, newest first.
   * @example
   * const [newest] = await daemon.listModels()
   */
  listModels(signal?: AbortSignal): Promise<ListedModel[]>
  /**
   * Lists the models that the daemon has loaded.
   * @example
   * for (const { name, memory_bytes } of await daemon.listLoaded()) console.log(name, memory_bytes)
   */
  listLoaded(signal?: AbortSignal): Promise<LoadedModel[]>
  /**
   * Loads a model, and resolves when the model is ready. `keepAlive` is how long the model stays loaded while it is
   * idle, such as `5m`; -1 means forever.
   * @example
   * const { context_length } = await daemon.load('tide', { keepAlive: '5m' })
   */
  load(
    model: string,
    options?: { keepAlive?: string | number; signal?: AbortSignal },
  ): Promise<LoadedModel>
  /**
   * Unloads a model. `unloaded` is false if the model was not loaded.
   * @example
   * const { unloaded } = await daemon.unload('tide')
   */
  unload(model: string): Promise<{ model: string; unloaded: boolean }>
  /**
   * Returns the state of file sharing.
   * @example
   * const { paused, files } = await daemon.sharing()
   */
  sharing(): Promise<SharingStatus>
  /**
   * Pauses file sharing if `paused` is true; otherwise, resumes it.
   * @example
   * const { paused } = await daemon.setSharing(true)
   */
  setSharing(paused: boolean): Promise<SharingStatus>
  /**
   * Yields the parts of the response as they arrive, and finally the reason why the response ended. Leaving the loop
   * stops the generation.
   * @example
   * const messages = [{ role: 'user' as const, content: 'When is high tide?' }]
   * const signal = AbortSignal.timeout(60_000) // milliseconds
   * for await (const part of daemon.chat({ model: 'tide', messages, max_tokens: 64 }, signal)) {
   *   if ('content' in part) process.stdout.write(part.content)
   *   else console.log(part.finishReason)
   * }
   */
  chat(request: ChatRequest, signal: AbortSignal): AsyncGenerator<AnswerPart | AnswerEnd, void>
}

/**
 * Creates a client for a daemon. `getApiKey` is called before each request.
 * @example
 * import { fetchInference, inferenceClient } from '@shoal/protocol/inference-client'
 *
 * const daemon = inferenceClient(fetchInference('http://localhost:11434'))
 * const models = await daemon.listModels()
 */
export function inferenceClient(
  transport: InferenceTransport,
  getApiKey: () => string | undefined = () => undefined,
): InferenceClient {
  const { url } = transport

  /** Awaits `step`, and converts its failure to a `DaemonGoneError` unless the signal was aborted. */
  async function reaching<T>(step: Promise<T>, hadBegun: boolean, signal?: AbortSignal) {
    return await step.catch((cause: unknown) => {
      signal?.throwIfAborted()
      throw new DaemonGoneError(url, hadBegun, { cause })
    })
  }

  async function send({ method, path, body, signal }: Call): Promise<InferenceAnswer> {
    const apiKey = getApiKey()
    const headers = {
      accept: 'application/json, text/event-stream',
      ...(body && { 'content-type': 'application/json' }),
      ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
    }
    const request = { method, path, headers, signal, ...(body && { body: JSON.stringify(body) }) }
    const answer = await reaching(transport.send(request), false, signal)
    const { status } = answer
    if (status >= 200 && status < 300) return answer
    const text = await reaching(readText(answer), true, signal)
    throw parseDaemonError(text, {
      status,
      retryAfterSeconds: parseRetryAfter(answer.header('retry-after')),
    })
  }

  async function json<T>(call: Call): Promise<T> {
    const answer = await send(call)
    const parsed = readText(answer).then((text) => JSON.parse(text) as T)
    return await reaching(parsed, true, call.signal)
  }

  return {
    url,
    ...registryCalls({ url, send, json }),

    health: (signal) => json({ method: 'GET', path: '/healthz', signal }),

    async hasModel(model, signal) {
      try {
        await json({ method: 'GET', path: `/v1/models/${encodeURIComponent(model)}`, signal })
        return true
      } catch (error) {
        if (error instanceof DaemonError && error.details.reason === 'model_not_found') return false
        throw error
      }
    },

    async listModels(signal) {
      const call = { method: 'GET', path: '/api/tags', signal } as const
      return (await json<{ models: ListedModel[] }>(call)).models
    },

    async listLoaded(signal) {
      const call = { method: 'GET', path: '/api/ps', signal } as const
      return (await json<{ models: LoadedModel[] }>(call)).models
    },

    load(model, { keepAlive, signal } = {}) {
      const body = { model, ...(keepAlive !== undefined && { keep_alive: keepAlive }) }
      return json({ method: 'POST', path: '/api/load', body, signal })
    },

    unload: (model) =>
      json({
        method: 'POST',
        path: '/api/unload',
        body: { model },
      }),

    sharing: () => json({ method: 'GET', path: '/api/sharing' }),

    setSharing: (paused) => json({ method: 'POST', path: '/api/sharing', body: { paused } }),

    async *chat(request, signal) {
      const body = { ...request, stream: true, stream_options: { include_usage: true } }
      const answer = await send({ method: 'POST', path: '/v1/chat/completions', body, signal })
      try {
        yield* readAnswer(answer.body)
      } catch (cause) {
        signal.throwIfAborted()
        if (cause instanceof DaemonError) throw cause
        throw new DaemonGoneError(url, true, { cause })
      }
    },
  }
}

async function readText({ body }: InferenceAnswer): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body) text += decoder.decode(chunk, { stream: true })
  return text + decoder.decode()
}
