/** The typed client of the registry: it runs anywhere, over a transport that the caller may give. */
import { sleep } from '@shoal/core/async'
import { AppError } from '@shoal/core/errors'
import type {
  ApiKey,
  CreatedApiKey,
  Login,
  NewApiKey,
  PasswordChange,
  Registration,
  Session,
  SignedIn,
  User,
  UserProfile,
} from './account.ts'
import type { Problem } from './common.ts'
import type {
  ChunkEntry,
  Download,
  FileRecord,
  MissingChunk,
  ModelFile,
  NewFile,
  StartedUpload,
  Upload,
} from './file.ts'
import { formatPath, type PathParameters } from './format-path.ts'
import type {
  CardDraft,
  Facets,
  Model,
  ModelChanges,
  ModelQuery,
  ModelRecord,
  NewModel,
  Stats,
} from './model.ts'
import * as routes from './routes.ts'
import {
  type ApiAnswer,
  fetchTransport,
  type RetryTimes,
  type Transport,
  type Wait,
} from './transport.ts'

export { isTransient, NetworkError, type NetworkFailure, type TlsReason } from './network-error.ts'
export {
  type ApiAnswer,
  type ApiRequest,
  fetchTransport,
  type RetryTimes,
  type Transport,
  type Wait,
} from './transport.ts'
export type {
  ApiKey,
  ChunkEntry,
  CreatedApiKey,
  Download,
  Facets,
  FileRecord,
  Login,
  MissingChunk,
  Model,
  ModelChanges,
  ModelFile,
  ModelRecord,
  NewFile,
  NewModel,
  Problem,
  Registration,
  Session,
  SignedIn,
  StartedUpload,
  Stats,
  Upload,
  User,
}

/** The registry answered with an error. `message` is its `detail`. */
export class ApiError extends AppError<'registry_refused'> {
  constructor(status: number, problem: Problem, retryAfter?: string) {
    super('registry_refused', problem.detail, { status, problem, retryAfter })
  }

  get status(): number {
    return this.details.status
  }

  get problem(): Problem {
    return this.details.problem
  }

  get retryAfter(): string | undefined {
    return this.details.retryAfter
  }
}

export type ModelFilter = Partial<ModelQuery>
export type ModelPage = { models: Model[]; total: number; isTotalExact: boolean }

export type ClientOptions = {
  /** The registry's address, as in `http://localhost:8000`. */
  baseUrl: string
  token?: string | undefined
  userAgent?: string
  /** Called before each wait: for a registry that asks for it (429 and 503 with `Retry-After`), or is away. */
  onWait?: ((wait: Wait) => void) | undefined
  /** How often a call is repeated after a wait that the registry asked for. Default 5; a `transport` does that by itself. */
  maxWaits?: number
  /** How long calls go on where the registry is away. Default: the transport's own. */
  retry?: RetryTimes | undefined
  /** Default: `fetch`. */
  transport?: Transport
}

type Call = {
  query?: Record<string, unknown>
  body?: unknown
  /** Default: JSON. */
  accept?: string
  signal?: AbortSignal | undefined
}

type Target = { method: string; path: string }

export type RegistryClient = ReturnType<typeof apiCalls> & {
  /** The same registry, asked in another way: as by anybody (`token: undefined`), or with more time. */
  with(changes: Omit<Partial<ClientOptions>, 'baseUrl'>): RegistryClient
}

/**
 * A client of one registry. Every call rejects with an `ApiError` for an answer that is no success and with a
 * `NetworkError` where no usable answer came; each takes an optional `signal`.
 */
export function registryClient(options: ClientOptions): RegistryClient {
  return {
    ...apiCalls(options),
    with: (changes) => registryClient({ ...options, ...changes }),
  }
}

function apiCalls(options: ClientOptions) {
  const { retry, onWait, transport = fetchTransport() } = options
  const { maxWaits = options.transport ? 0 : 5 } = options
  const baseUrl = options.baseUrl.replace(/\/+$/, '')

  async function exchange({ method, path }: Target, call: Call = {}): Promise<ApiAnswer> {
    const { query, body, signal, accept = 'application/json' } = call
    const headers: Record<string, string> = { accept }
    if (options.token) headers.authorization = `Bearer ${options.token}`
    if (options.userAgent) headers['user-agent'] = options.userAgent
    if (body !== undefined) headers['content-type'] = 'application/json'
    const url = baseUrl + path + queryString(query)
    const request = { method, url, headers, signal, retry, onWait }

    for (let waits = 0; ; waits += 1) {
      const answer = await transport({
        ...request,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const { status } = answer
      if ((status >= 200 && status < 300) || status === 304) return answer
      const seconds = Number(answer.headers.get('retry-after'))
      const isAskedToWait = [429, 503].includes(status) && seconds > 0
      const error = toApiError(answer)
      const isFull = error.problem.code === 'storage_full' // seconds do not mend that
      if (!isAskedToWait || isFull || waits >= maxWaits) throw error
      onWait?.({ seconds, reason: 'it is busy' })
      await sleep(seconds * 1000, signal)
    }
  }

  async function json<T>(target: Target, call?: Call): Promise<T> {
    return parseJson<T>(await exchange(target, call))
  }

  async function nothing(target: Target, call?: Call): Promise<void> {
    await exchange(target, call)
  }

  return {
    baseUrl,

    async listModels(filter: ModelFilter = {}, signal?: AbortSignal): Promise<ModelPage> {
      const answer = await exchange(to(routes.listModels), { query: filter, signal })
      const models = parseJson<Model[]>(answer)
      return {
        models,
        total: Number(answer.headers.get('x-total-count') ?? models.length),
        isTotalExact: answer.headers.get('x-total-count-exact') !== 'false',
      }
    },
    getModel: (model: string, signal?: AbortSignal) =>
      json<ModelRecord>(to(routes.getModel, { id: model }), { signal }),
    /** The model card as safe HTML. With `images`, the reader's browser loads them from where they lie. */
    async getCard(
      model: string,
      { images = false }: { images?: boolean } = {},
      signal?: AbortSignal,
    ): Promise<string> {
      const query = images ? { images: 1 } : {}
      const call = { query, accept: 'text/html', signal }
      return decodeText(await exchange(to(routes.getCard, { id: model }), call))
    },
    /** What somebody is writing, as `getCard` would give it. */
    async renderCard(draft: CardDraft, signal?: AbortSignal): Promise<string> {
      const call = { body: draft, accept: 'text/html', signal }
      return decodeText(await exchange(to(routes.renderCard), call))
    },
    createModel: (model: NewModel) => json<ModelRecord>(to(routes.createModel), { body: model }),
    updateModel: (model: string, changes: ModelChanges) =>
      json<ModelRecord>(to(routes.updateModel, { id: model }), { body: changes }),
    deleteModel: (model: string, query: { only_if_empty?: boolean } = {}, signal?: AbortSignal) =>
      nothing(to(routes.deleteModel, { id: model }), { query, signal }),
    setLike: (model: string, liked: boolean) =>
      nothing(to(routes.setLike, { id: model }), { body: { liked } }),
    getFacets: (filter: ModelFilter = {}) => json<Facets>(to(routes.getFacets), { query: filter }),
    getStats: () => json<Stats>(to(routes.getStats)),
    getUser: (username: string) => json<UserProfile>(to(routes.getUser, { username })),

    listFiles: (model: string, query: { status?: 'ready' | 'all' } = {}, signal?: AbortSignal) =>
      json<ModelFile[]>(to(routes.listFiles, { id: model }), { query, signal }),
    getFile: (model: string, file: string, signal?: AbortSignal) =>
      json<FileRecord>(to(routes.getFile, { id: model, file_id: file }), { signal }),
    startUpload: (model: string, file: NewFile, signal?: AbortSignal) =>
      json<StartedUpload>(to(routes.startUpload, { id: model }), {
        body: file,
        signal,
      }),
    getUpload: (
      model: string,
      file: string,
      query: { from?: number; limit?: number } = {},
      signal?: AbortSignal,
    ) => json<Upload>(to(routes.getUpload, { id: model, file_id: file }), { query, signal }),
    completeUpload: (model: string, file: string, signal?: AbortSignal) =>
      json<ModelFile>(to(routes.completeUpload, { id: model, file_id: file }), {
        signal,
      }),
    deleteFile: (model: string, file: string, signal?: AbortSignal) =>
      nothing(to(routes.deleteFile, { id: model, file_id: file }), { signal }),

    /** Counts as a download: call it for a person who asked for the bytes, never to look around. */
    getDownload: (model: string, file: string, signal?: AbortSignal) =>
      json<Download>(to(routes.getDownload, { model_id: model, file_id: file }), { signal }),
    /** The torrent file. */
    async getTorrent(model: string, file: string, signal?: AbortSignal): Promise<Uint8Array> {
      const target = to(routes.getTorrent, { model_id: model, file_id: file })
      return (await exchange(target, { accept: 'application/x-bittorrent', signal })).body
    },

    register: (registration: Registration) =>
      json<SignedIn>(to(routes.register), { body: registration }),
    login: (credentials: Login) => json<SignedIn>(to(routes.login), { body: credentials }),
    logout: () => nothing(to(routes.logout)),
    getMe: (signal?: AbortSignal) => json<User>(to(routes.getMe), { signal }),
    changePassword: (change: PasswordChange) =>
      nothing(to(routes.changePassword), { body: change }),
    listSessions: () => json<Session[]>(to(routes.listSessions)),
    deleteSession: (id: string) => nothing(to(routes.deleteSession, { id })),
    createApiKey: (key: NewApiKey) => json<CreatedApiKey>(to(routes.createApiKey), { body: key }),
    listApiKeys: () => json<ApiKey[]>(to(routes.listApiKeys)),
    deleteApiKey: (id: string) => nothing(to(routes.deleteApiKey, { id })),
  }
}

const to = <Url extends string>(
  route: { method: string; url: Url },
  ...parameters: PathParameters<Url>
): Target => ({ method: route.method, path: formatPath(route.url, ...parameters) })

const decodeText = ({ body }: ApiAnswer) => new TextDecoder().decode(body)

const parseJson = <T>(answer: ApiAnswer) => JSON.parse(decodeText(answer)) as T

function toApiError(answer: ApiAnswer): ApiError {
  const { status, headers } = answer
  const detail = `the registry answered ${status} without saying why`
  const problem = problemIn(decodeText(answer)) ?? { detail }
  return new ApiError(status, problem, headers.get('retry-after') ?? undefined)
}

/** The body as a problem, or undefined when something between us and the registry answered in its place. */
export function problemIn(text: string): Problem | undefined {
  try {
    const body: unknown = JSON.parse(text)
    const hasDetail = typeof body === 'object' && body !== null && 'detail' in body
    return hasDetail ? (body as Problem) : undefined
  } catch {
    return undefined // not JSON: a proxy's page
  }
}

function queryString(query: Record<string, unknown> = {}) {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value])
      .filter((one) => one !== undefined)
      .map((one): [string, string] => [name, String(one)]),
  )
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`
}
