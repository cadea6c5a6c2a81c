/** Calls about models in the registries that are known on the daemon's machine. */
import { DaemonError, DaemonGoneError, errorIn } from './errors.ts'
import type { InferenceAnswer } from './transport.ts'

export type DaemonRegistry = {
  /** The registry's origin, such as `http://localhost:8000`. */
  address: string
  has_credentials: boolean
}

export type RegistryQuery = {
  /** The address of a known registry; by default, the one in the settings. */
  registry?: string | undefined
  q?: string
  /** Whether to list only models that fit in the machine's memory. */
  fits?: boolean
  limit?: number
  offset?: number
}

export type RegistryModel = {
  name: string
  display_name: string
  description: string | null
  license: string | null
  owner: string
  parameter_count: number | null
  quantizations: string[]
  min_file_size_bytes: number | null
  min_memory_bytes: number | null
  /** Whether the model's smallest file fits in memory; null if this is unknown. */
  fits: boolean | null
  /** The model's local ID, or null if the machine has no files of this model from this registry. */
  local_model: string | null
}

export type RegistryPage = {
  registry: string
  total: number
  is_total_exact: boolean
  /** Whether the registry has refused the machine's sign-in, so that private models are missing. */
  is_token_refused: boolean
  memory_limit_bytes: number
  models: RegistryModel[]
}

/** A file that can be pulled. */
export type RegistryFile = {
  registry: string
  is_known: boolean
  name: string
  label: string
  /** The total size of all parts. */
  size_bytes: number
  memory_bytes: number
  memory_limit_bytes: number
  fits: boolean
  /** The model's local ID if the model is already on the machine; otherwise, null. */
  local_model: string | null
}

/** The progress of one of a model's files, in bytes. */
export type PullProgress = { digest: string; completed: number; total: number }

export type RegistryOptions = {
  /** Whether the user has agreed to use an unknown registry. */
  allowUnknown?: boolean
  signal?: AbortSignal
}

export interface RegistryCalls {
  /**
   * Lists the known registries, starting with the one in the settings.
   * @example
   * const [{ address }] = await daemon.listRegistries()
   */
  listRegistries(): Promise<DaemonRegistry[]>
  /**
   * Returns one page of a registry's models: the best matches, or the most downloaded models if `q` is empty.
   * @example
   * const { models, total } = await daemon.searchRegistry({ q: 'tide', fits: true })
   */
  searchRegistry(query: RegistryQuery, signal?: AbortSignal): Promise<RegistryPage>
  /**
   * Returns the file that `pull` would download.
   * @example
   * const { size_bytes, fits } = await daemon.findFile('https://models.example.org/tide:Q8_0')
   */
  findFile(model: string, options?: RegistryOptions): Promise<RegistryFile>
  /**
   * Pulls a model, and yields the progress of its files. Returns when all files are complete and verified.
   * @example
   * for await (const { completed, total } of daemon.pull('tide')) console.log(completed / total)
   */
  pull(model: string, options?: RegistryOptions): AsyncGenerator<PullProgress, void>
  /**
   * Deletes a model's files from the daemon's machine.
   * @example
   * await daemon.removeModel('tide:Q8_0')
   */
  removeModel(model: string): Promise<void>
}

export type Call = {
  method: 'GET' | 'POST' | 'DELETE'
  path: string
  body?: object
  signal?: AbortSignal | undefined
}

type Sending = {
  url: string
  send(call: Call): Promise<InferenceAnswer>
  json<T>(call: Call): Promise<T>
}

export function registryCalls({ url, send, json }: Sending): RegistryCalls {
  const toBody = (model: string, { allowUnknown }: RegistryOptions) => ({
    model,
    ...(allowUnknown && { allow_unknown_registry: true }),
  })

  return {
    async listRegistries() {
      const call = { method: 'GET', path: '/api/registries' } as const
      return (await json<{ registries: DaemonRegistry[] }>(call)).registries
    },

    searchRegistry: (query, signal) =>
      json({ method: 'POST', path: '/api/registries/search', body: query, signal }),

    findFile: (model, options = {}) =>
      json({
        method: 'POST',
        path: '/api/registries/find',
        body: toBody(model, options),
        signal: options.signal,
      }),

    async *pull(model, options = {}) {
      const { signal } = options
      const body = toBody(model, options)
      const answer = await send({ method: 'POST', path: '/api/pull', body, signal })
      let isComplete = false
      try {
        for await (const line of readLines(answer.body)) {
          const status = JSON.parse(line) as { status?: string } & Partial<PullProgress>
          const error = errorIn(status, { status: 500 })
          if (error) throw error
          const { digest, completed, total } = status
          if (digest !== undefined && completed !== undefined && total !== undefined) {
            yield { digest, completed, total }
          }
          isComplete = status.status === 'success'
        }
      } catch (cause) {
        signal?.throwIfAborted()
        if (cause instanceof DaemonError) throw cause
        throw new DaemonGoneError(url, true, { cause })
      }
      if (!isComplete) throw new DaemonGoneError(url, true)
    },

    async removeModel(model) {
      const answer = await send({ method: 'DELETE', path: '/api/delete', body: { model } })
      for await (const _ of answer.body); // read to the end, so that the connection can be reused
    },
  }
}

async function* readLines(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines.filter((line) => line !== '')
  }
  if (rest !== '') yield rest
}
