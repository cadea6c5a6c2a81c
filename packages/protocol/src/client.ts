/**
 * The typed client for a registry, in browsers and Node. It sends requests with `fetch`, or with a transport supplied
 * by the caller.
 */
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
import type { Me } from './admin.ts'
import { adminCalls } from './admin-calls.ts'
import { type Call, type Target, to } from './call.ts'
import type { Problem } from './common.ts'
import type {
  ChunkEntry,
  DeclaredChunks,
  Download,
  FileRecord,
  MissingChunk,
  ModelFile,
  NewFile,
  NewUpload,
  StartedUpload,
  Upload,
} from './file.ts'
import type {
  CardDraft,
  Facets,
  Member,
  MemberRight,
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
  DeclaredChunks,
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
  NewUpload,
  Problem,
  Registration,
  Session,
  SignedIn,
  StartedUpload,
  Stats,
  Upload,
  User,
}

/** An error response from the registry. `message` is the response's `detail`. */
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
  /** The registry's base URL, such as `http://localhost:8000`. */
  baseUrl: string
  token?: string | undefined
  userAgent?: string
  /**
   * Called before each wait. The client waits if the registry cannot be reached, or if the registry asks the client to
   * retry later (429 or 503 with `Retry-After`).
   */
  onWait?: ((wait: Wait) => void) | undefined
  /**
   * Maximum number of retries after waits that the registry requests. Default: 5, or 0 with a `transport`, which
   * retries by itself.
   */
  maxWaits?: number
  /** How long calls are retried while the registry cannot be reached. Default: determined by the transport. */
  retry?: RetryTimes | undefined
  /** Sends the requests. Default: `fetch`. */
  transport?: Transport
}

export type RegistryClient = ReturnType<typeof apiCalls> & {
  /**
   * Returns a client for the same registry with changed options, for example without a token or with a longer timeout.
   * @example
   * const visitor = client.with({ token: undefined })
   */
  with(changes: Omit<Partial<ClientOptions>, 'baseUrl'>): RegistryClient
}

/**
 * Creates a client for one registry. Every call rejects with an `ApiError` if the registry returns an error, and with a
 * `NetworkError` if there was no usable response. Many calls accept a `signal` that cancels them.
 * @example
 * import { registryClient } from '@shoal/protocol/client'
 *
 * const client = registryClient({ baseUrl: 'http://localhost:8000', token })
 * const { models } = await client.listModels()
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
      const isFull = error.problem.code === 'storage_full' // waiting does not free storage
      if (!isAskedToWait || isFull || waits >= maxWaits) throw error
      onWait?.({ seconds, reason: 'the registry is busy' })
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

    /**
     * Returns one page of the matching models, and the total number of matches.
     * @example
     * const { models, total } = await client.listModels({ q: 'tide', sort: 'downloads', limit: 20 })
     */
    async listModels(filter: ModelFilter = {}, signal?: AbortSignal): Promise<ModelPage> {
      const answer = await exchange(to(routes.listModels), { query: filter, signal })
      const models = parseJson<Model[]>(answer)
      return {
        models,
        total: Number(answer.headers.get('x-total-count') ?? models.length),
        isTotalExact: answer.headers.get('x-total-count-exact') !== 'false',
      }
    },
    /**
     * Returns a model with its model card.
     * @example
     * const { description, likes } = await client.getModel('tide')
     */
    getModel: (model: string, signal?: AbortSignal) =>
      json<ModelRecord>(to(routes.getModel, { id: model }), { signal }),
    /**
     * Returns the model card as safe HTML. With `images`, the reader's browser loads images from their original URLs.
     * @example
     * const html = await client.getCard('tide', { images: true })
     */
    async getCard(
      model: string,
      { images = false }: { images?: boolean } = {},
      signal?: AbortSignal,
    ): Promise<string> {
      const query = images ? { images: 1 } : {}
      const call = { query, accept: 'text/html', signal }
      return decodeText(await exchange(to(routes.getCard, { id: model }), call))
    },
    /**
     * Renders a draft of a model card to the HTML that `getCard` would return. Nothing is saved.
     * @example
     * const html = await client.renderCard({ readme: '# Tide', names: ['tide'] })
     */
    async renderCard(draft: CardDraft, signal?: AbortSignal): Promise<string> {
      const call = { body: draft, accept: 'text/html', signal }
      return decodeText(await exchange(to(routes.renderCard), call))
    },
    /**
     * Creates a model without files, owned by the caller.
     * @example
     * await client.createModel({ name: 'tide-chat', license: 'apache-2.0', is_public: false })
     */
    createModel: (model: NewModel) => json<ModelRecord>(to(routes.createModel), { body: model }),
    /**
     * Changes the given fields of a model, and returns the model.
     * @example
     * await client.updateModel('tide', { description: 'Knows the tides', tags: ['chat'] })
     */
    updateModel: (model: string, changes: ModelChanges) =>
      json<ModelRecord>(to(routes.updateModel, { id: model }), { body: changes }),
    /**
     * Deletes a model and its files. With `only_if_empty`, rejects with status 409 if the model has a file or an open
     * upload.
     * @example
     * await client.deleteModel('empty', { only_if_empty: true })
     */
    deleteModel: (model: string, query: { only_if_empty?: boolean } = {}, signal?: AbortSignal) =>
      nothing(to(routes.deleteModel, { id: model }), { query, signal }),
    /**
     * Sets or removes the caller's like.
     * @example
     * await client.setLike('tide', true)
     */
    setLike: (model: string, liked: boolean) =>
      nothing(to(routes.setLike, { id: model }), { body: { liked } }),
    /**
     * Counts the matching models by architecture, license, tag and quantization.
     * @example
     * const { quantizations } = await client.getFacets({ architecture: 'llama' })
     */
    getFacets: (filter: ModelFilter = {}, signal?: AbortSignal) =>
      json<Facets>(to(routes.getFacets), { query: filter, signal }),
    /**
     * Returns totals for public models: the numbers of models, files, bytes and downloads, and the parameter counts of
     * the most downloaded models.
     * @example
     * const { models, downloads } = await client.getStats()
     */
    getStats: () => json<Stats>(to(routes.getStats)),
    /**
     * Returns the public profile of an account.
     * @example
     * const { models_count } = await client.getUser('ana')
     */
    getUser: (username: string) => json<UserProfile>(to(routes.getUser, { username })),

    /**
     * Lists the ready files of a model, smallest first. With `status: 'all'`, the owner and
     * administrators get all files.
     * @example
     * const files = await client.listFiles('tide', { status: 'all' })
     */
    listFiles: (model: string, query: { status?: 'ready' | 'all' } = {}, signal?: AbortSignal) =>
      json<ModelFile[]>(to(routes.listFiles, { id: model }), { query, signal }),
    /**
     * Returns a file with the metadata of its GGUF header and a summary of its tensors.
     * @example
     * const { metadata, tensors } = await client.getFile('tide', file.id)
     */
    getFile: (model: string, file: string, signal?: AbortSignal) =>
      json<FileRecord>(to(routes.getFile, { id: model, file_id: file }), { signal }),
    /**
     * Starts an upload, or resumes the upload that an earlier call with the same manifest started. Returns the first
     * 100 missing chunks, each with a presigned URL to which it is sent with `PUT`.
     * @example
     * import { hashFileInWorker, makeManifest } from '@shoal/model-file'
     *
     * const manifest = makeManifest(await hashFileInWorker('tide-q4.gguf'))
     * const { id, upload } = await client.startUpload('tide', { filename: 'tide-q4.gguf', ...manifest })
     * for (const { index, url } of upload.missing_chunks) console.log(index, url)
     */
    startUpload: (model: string, file: NewFile, signal?: AbortSignal) =>
      json<StartedUpload>(to(routes.startUpload, { id: model }), {
        body: file,
        signal,
      }),
    /**
     * Starts the upload of a file whose hashes are not known yet, or resumes the unfinished upload with this filename
     * and size. `declareChunks` returns URLs for the chunks. Before the upload can be completed, call `startUpload`
     * with the complete manifest.
     * @example
     * const { id } = await client.reserveUpload('tide', { filename: 'tide-f16.gguf', file_size_bytes: 4e9 })
     * await client.deleteFile('tide', id) // cancels the upload
     */
    reserveUpload: (model: string, file: NewUpload, signal?: AbortSignal) =>
      json<StartedUpload>(to(routes.reserveUpload, { id: model }), { body: file, signal }),
    /**
     * Declares the hashes of up to 1000 chunks, and returns those of the chunks that are missing, each with a URL.
     * @example
     * const { id } = await client.reserveUpload('tide', { filename: 'tide-q5.gguf', file_size_bytes: 4e9 })
     * const hash = '5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03'
     * const chunk_hashes = [{ index: 0, hash, size: 16 * 1024 * 1024 }]
     * const { missing_chunks } = await client.declareChunks('tide', id, { chunk_hashes })
     * await client.deleteFile('tide', id)
     */
    declareChunks: (model: string, file: string, chunks: DeclaredChunks, signal?: AbortSignal) =>
      json<Upload>(to(routes.declareChunks, { id: model, file_id: file }), {
        body: chunks,
        signal,
      }),
    /**
     * Lists an upload's missing chunks from index `from` on, each with a new URL.
     * @example
     * const { missing_chunks } = await client.getUpload('tide', upload.id, { from: 100, limit: 100 })
     */
    getUpload: (
      model: string,
      file: string,
      query: { from?: number; limit?: number } = {},
      signal?: AbortSignal,
    ) => json<Upload>(to(routes.getUpload, { id: model, file_id: file }), { query, signal }),
    /**
     * Completes an upload whose chunks have all been sent. The status of the file is `ready` once the registry has
     * verified it.
     * @example
     * const { status } = await client.completeUpload('tide', upload.id)
     */
    completeUpload: (model: string, file: string, signal?: AbortSignal) =>
      json<ModelFile>(to(routes.completeUpload, { id: model, file_id: file }), {
        signal,
      }),
    /**
     * Deletes a file, or cancels its upload.
     * @example
     * const [file] = await client.listFiles('old-tide')
     * if (file) await client.deleteFile('old-tide', file.id)
     */
    deleteFile: (model: string, file: string, signal?: AbortSignal) =>
      nothing(to(routes.deleteFile, { id: model, file_id: file }), { signal }),

    /**
     * Returns the URLs and chunk hashes that are needed to download a file. The registry counts every call as a
     * download, so call this method only to download the file.
     * @example
     * const { direct_url, chunk_hashes } = await client.getDownload('tide', file.id)
     */
    getDownload: (model: string, file: string, signal?: AbortSignal) =>
      json<Download>(to(routes.getDownload, { model_id: model, file_id: file }), { signal }),
    /**
     * Returns the torrent file for a file of a model.
     * @example
     * import { writeFile } from 'node:fs/promises'
     *
     * const torrent = await client.getTorrent('tide', file.id)
     * await writeFile('tide.torrent', torrent)
     */
    async getTorrent(model: string, file: string, signal?: AbortSignal): Promise<Uint8Array> {
      const target = to(routes.getTorrent, { model_id: model, file_id: file })
      return (await exchange(target, { accept: 'application/x-bittorrent', signal })).body
    },

    /**
     * Creates an account, and starts a session for it.
     * @example
     * const { access_token } = await client.register({ username: 'ben', password: 'a long password' })
     */
    register: (registration: Registration) =>
      json<SignedIn>(to(routes.register), { body: registration }),
    /**
     * Starts a session.
     * @example
     * const { access_token } = await client.login({ username: 'ben', password: 'a long password' })
     */
    login: (credentials: Login) => json<SignedIn>(to(routes.login), { body: credentials }),
    /**
     * Ends the session to which the client's token belongs.
     * @example
     * const { access_token } = await client.login({ username: 'ben', password: 'a long password' })
     * await client.with({ token: access_token }).logout()
     */
    logout: () => nothing(to(routes.logout)),
    /**
     * Returns the account to which the client's token belongs, its role, and what it uses.
     * @example
     * const { username, usage } = await client.getMe()
     */
    getMe: (signal?: AbortSignal) => json<Me>(to(routes.getMe), { signal }),
    /**
     * Changes the password, and ends the account's other sessions.
     * @example
     * await client.changePassword({ current_password: password, new_password: 'a longer password' })
     */
    changePassword: (change: PasswordChange) =>
      nothing(to(routes.changePassword), { body: change }),
    /**
     * Lists the account's sessions, newest first.
     * @example
     * const [latest] = await client.listSessions()
     */
    listSessions: () => json<Session[]>(to(routes.listSessions)),
    /**
     * Ends a session.
     * @example
     * for (const { id, current } of await client.listSessions()) {
     *   if (!current) await client.deleteSession(id)
     * }
     */
    deleteSession: (id: string) => nothing(to(routes.deleteSession, { id })),
    /**
     * Creates an API key. Only this response contains the key itself.
     * @example
     * const { key } = await client.createApiKey({ name: 'laptop' })
     */
    createApiKey: (key: NewApiKey) => json<CreatedApiKey>(to(routes.createApiKey), { body: key }),
    /**
     * Lists the account's API keys, newest first. The keys themselves are not included.
     * @example
     * const [latest] = await client.listApiKeys()
     */
    listApiKeys: () => json<ApiKey[]>(to(routes.listApiKeys)),
    /**
     * Revokes an API key.
     * @example
     * for (const { id, name } of await client.listApiKeys()) {
     *   if (name === 'laptop') await client.deleteApiKey(id)
     * }
     */
    deleteApiKey: (id: string) => nothing(to(routes.deleteApiKey, { id })),

    /**
     * Lists the accounts that a model is shared with.
     * @example
     * const writers = (await client.listMembers('tide')).filter(({ right }) => right === 'write')
     */
    listMembers: (model: string, signal?: AbortSignal) =>
      json<Member[]>(to(routes.listMembers, { id: model }), { signal }),
    /**
     * Shares a model with an account, or changes its right.
     * @example
     * await client.setMember('tide', 'ben', 'read')
     */
    setMember: (model: string, username: string, right: MemberRight) =>
      json<Member>(to(routes.setMember, { id: model, username }), { body: { right } }),
    /**
     * Ends a membership.
     * @example
     * await client.removeMember('tide', 'ben')
     */
    removeMember: (model: string, username: string) =>
      nothing(to(routes.removeMember, { id: model, username })),
    /**
     * Makes another account the owner of a model.
     * @example
     * await client.transferModel('tide', 'ben')
     */
    transferModel: (model: string, username: string) =>
      nothing(to(routes.transferModel, { id: model }), { body: { username } }),

    ...adminCalls({ json, nothing }),
  }
}

const decodeText = ({ body }: ApiAnswer) => new TextDecoder().decode(body)

const parseJson = <T>(answer: ApiAnswer) => JSON.parse(decodeText(answer)) as T

function toApiError(answer: ApiAnswer): ApiError {
  const { status, headers } = answer
  const detail = `the registry returned status ${status} without an error message`
  const problem = problemIn(decodeText(answer)) ?? { detail }
  return new ApiError(status, problem, headers.get('retry-after') ?? undefined)
}

/** Parses an error response from the registry. Undefined for anything else, such as a response from an intermediary. */
export function problemIn(text: string): Problem | undefined {
  try {
    const body: unknown = JSON.parse(text)
    const hasDetail = typeof body === 'object' && body !== null && 'detail' in body
    return hasDetail ? (body as Problem) : undefined
  } catch {
    return undefined // not JSON, such as a page from a proxy
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
