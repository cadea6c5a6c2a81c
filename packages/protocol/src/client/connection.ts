/** Sends the calls of a client to its registry. */
import { sleep } from '@shoal/core/async'
import { describePage } from '@shoal/core/errors'
import type { Route } from '../routes/route.ts'
import { toApiError } from './api-error.ts'
import type { AnswerOf, CallArguments, RouteTo, Target } from './call.ts'
import { NetworkError } from './network-error.ts'
import {
  type ApiAnswer,
  fetchTransport,
  type RetryTimes,
  type Transport,
  type Wait,
} from './transport.ts'

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
   * Maximum number of retries after waits that the registry requests. Default: 5, or 0 if a `transport` is given,
   * because transports retry by themselves.
   */
  maxWaits?: number
  /** How long calls are retried while the registry cannot be reached. Default: determined by the transport. */
  retry?: RetryTimes | undefined
  /** Sends the requests. Default: `fetch`. */
  transport?: Transport
}

export type OptionChanges = Omit<Partial<ClientOptions>, 'baseUrl'>

/**
 * Sends calls to one registry. Every method rejects with an `ApiError` if the registry returns an error, and with a
 * `NetworkError` if there was no usable response.
 */
export type Connection = {
  baseUrl: string
  exchange<R extends Route>(target: Target<R>, ...call: CallArguments<R>): Promise<ApiAnswer>
  json<R extends RouteTo<object>>(
    target: Target<R>,
    ...call: CallArguments<R>
  ): Promise<AnswerOf<R>>
  text<R extends RouteTo<string>>(target: Target<R>, ...call: CallArguments<R>): Promise<string>
  nothing<R extends RouteTo<null>>(target: Target<R>, ...call: CallArguments<R>): Promise<void>
  /** Returns a connection to the same registry with changed options. */
  with(changes: OptionChanges): Connection
}

export function openConnection(options: ClientOptions): Connection {
  const { retry, onWait, transport = fetchTransport() } = options
  const { maxWaits = options.transport ? 0 : 5 } = options
  const baseUrl = options.baseUrl.replace(/\/+$/, '')

  async function exchange<R extends Route>(
    { route, path }: Target<R>,
    ...[call]: CallArguments<R>
  ): Promise<ApiAnswer> {
    const { query, body, signal, accept = 'application/json' } = call ?? {}
    const headers: Record<string, string> = { accept }
    if (options.token && !route.isAnonymous) headers.authorization = `Bearer ${options.token}`
    if (options.userAgent) headers['user-agent'] = options.userAgent
    if (body !== undefined) headers['content-type'] = 'application/json'
    const url = baseUrl + path + queryString(query)
    const request = { route, method: route.method, url, headers, signal, retry, onWait }

    for (let waits = 0; ; waits += 1) {
      const answer = await transport({
        ...request,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const { status } = answer
      if ((status >= 200 && status < 300) || status === 304) return answer
      const retryAfter = answer.headers.get('retry-after') ?? undefined
      const found = { status, text: decodeText(answer), retryAfter }
      const error = toApiError(found, 'a server in front of the registry')
      // Dates are ignored: registries send seconds, and every page loads this code.
      const seconds = Number(retryAfter)
      const isAskedToWait = [429, 503].includes(status) && seconds > 0
      const isFull = error.problem.code === 'storage_full' // waiting does not free storage
      if (!isAskedToWait || isFull || waits >= maxWaits) throw error
      onWait?.({ seconds, reason: 'the registry is busy' })
      await sleep(seconds * 1000, signal)
    }
  }

  return {
    baseUrl,
    exchange,
    json: async (target, ...call) => parseJson(await exchange(target, ...call)),
    text: async (target, ...call) => decodeText(await exchange(target, ...call)),
    async nothing(target, ...call) {
      await exchange(target, ...call)
    },
    with: (changes) => openConnection({ ...options, ...changes }),
  }
}

const decodeText = ({ body }: ApiAnswer) => new TextDecoder().decode(body)

/** @throws `NetworkError` if the response is not JSON, for example because it is a page of the network's */
export function parseJson<T>(answer: ApiAnswer): T {
  const text = decodeText(answer)
  try {
    return JSON.parse(text) as T
  } catch (cause) {
    const detail = describePage(answer.status, text)
    throw new NetworkError(
      { code: 'not_a_registry', reason: 'not_json', host: 'the registry', detail },
      { cause },
    )
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
