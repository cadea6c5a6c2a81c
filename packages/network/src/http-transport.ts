/** The transport of programs that run in Node: one try after another, through redirects, until an answer is whole. */
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import {
  type ApiAnswer,
  type ApiRequest,
  isTransient,
  NetworkError,
  problemIn,
  type RetryTimes,
  type Transport,
} from '@shoal/protocol/client'
import type { Dispatcher } from 'undici'
import { backoffMs, parseRetryAfter } from './backoff.ts'
import { checkAnswer } from './check-answer.ts'
import type { Network } from './dispatcher.ts'
import { isRepeatable } from './endpoints.ts'
import { failureOf, failureOfAnswer } from './failure-of.ts'
import { apiRedirect, maxRedirects, redirectRefused } from './redirect.ts'
import { sendRequest } from './send-request.ts'

const firstContactMs = 1_500
const longestGiveUpMs = 30_000
const maxRetriesOf500 = 2
/** Of waits that a registry asks for, where the caller does not say how long all of it may take. */
const maxAskedWaits = 5
const maxAskedMs = 600_000
/** Larger than the download information of a file of 10 TB. */
const maxBodyBytes = 64 * 1024 * 1024

/**
 * Sends again what may be repeated, where no answer came, or none but 502, 503, 504 or a plain 500; and anything after a wait
 * that the registry asks for (`Retry-After` of 429 and 503).
 */
export function httpTransport(network: Network): Transport {
  const giveUpMs = Math.min(longestGiveUpMs, network.settings.timeouts.giveUpMs)
  const defaultRetry: RetryTimes = { firstContactMs, giveUpMs }
  let hasAnswered = false

  return async (call) => {
    const retry = call.retry ?? defaultRetry
    const startedAt = performance.now()
    let askedWaits = 0
    for (let failures = 1; ; failures += 1) {
      const result = await exchange(network, call).catch((error: unknown) => {
        call.signal?.throwIfAborted()
        if (error instanceof NetworkError) return error
        throw error
      })
      const wait = waitBefore(result, failures, call)
      if (wait === undefined && !(result instanceof NetworkError)) hasAnswered = true
      if (wait?.isAsked) askedWaits += 1
      const waitedMs = performance.now() - startedAt
      if (wait === undefined || isEnough(wait, waitedMs)) {
        if (result instanceof NetworkError) throw result
        return result
      }
      call.onWait?.({ seconds: wait.ms / 1000, reason: wait.reason })
      await sleep(wait.ms, undefined, call.signal && { signal: call.signal }).catch((error) => {
        throw call.signal?.aborted ? call.signal.reason : error
      })
    }

    function isEnough({ ms, isAsked }: Pause, waitedMs: number): boolean {
      if (isAsked && !call.retry) return askedWaits > maxAskedWaits || ms > maxAskedMs
      return waitedMs + ms > (hasAnswered || isAsked ? retry.giveUpMs : retry.firstContactMs)
    }
  }
}

type Pause = { ms: number; reason: string; isAsked: boolean }

/** How long to wait before another try; undefined where there is none. */
function waitBefore(
  result: ApiAnswer | NetworkError,
  failures: number,
  call: ApiRequest,
): Pause | undefined {
  const mayRepeat = isRepeatable(call)
  const backoff = { ms: backoffMs(failures), isAsked: false }
  if (result instanceof NetworkError) {
    const isWorthIt = mayRepeat && isTransient(result.failure)
    return isWorthIt ? { ...backoff, reason: result.message } : undefined
  }
  const { status } = result
  const { host } = new URL(call.url)
  const seconds = retryAfterSeconds(result)
  if (seconds !== undefined) {
    // Nothing was done, so that anything may be sent again; a little later, so that not everybody comes at once.
    const ms = seconds * 1000 + Math.random() * Math.min(1000, seconds * 100)
    return { ms, reason: `${host} asks for it (${status})`, isAsked: true }
  }
  // The first are of a proxy whose registry is away. The last is a defect more often than not.
  const isPassing =
    [502, 503, 504].includes(status) || (status === 500 && failures <= maxRetriesOf500)
  if (!isPassing || !mayRepeat || isStorageFull(result)) return undefined
  return { ...backoff, reason: `${host} answered ${status}` }
}

/** Of an answer that asks for a wait which helps. */
function retryAfterSeconds(answer: ApiAnswer): number | undefined {
  const { status, headers } = answer
  if (status !== 429 && status !== 503) return undefined
  const seconds = parseRetryAfter(headers.get('retry-after'))
  const isFull = isStorageFull(answer)
  return isFull ? undefined : seconds
}

/** No time mends that. */
const isStorageFull = ({ body }: ApiAnswer) =>
  problemIn(Buffer.from(body).toString())?.code === 'storage_full'

async function exchange(network: Network, call: ApiRequest): Promise<ApiAnswer> {
  let url = new URL(call.url)
  let { headers } = call
  for (let redirects = 0; redirects <= maxRedirects; redirects += 1) {
    const answer = await exchangeOnce(network, { ...call, headers }, url)
    const location = answer.headers.get('location')
    const isRedirect = answer.status >= 300 && answer.status < 400 && location !== null
    if (!isRedirect || answer.status === 304) return answer
    const hasCredentials = 'authorization' in headers
    const to = apiRedirect(url, location, { hasCredentials })
    // 301, 302 and 303 turn a POST into a GET (RFC 9110, 15.4): what was to be done would not be.
    if (call.method !== 'GET' && ![307, 308].includes(answer.status)) {
      throw redirectRefused(url, 'moved', `it redirects to ${to.origin}`)
    }
    if (to.origin !== url.origin) headers = withoutCredentials(headers)
    url = to
  }
  throw redirectRefused(url, 'loop', `it redirects more than ${maxRedirects} times`)
}

const withoutCredentials = ({ authorization: _, ...headers }: Record<string, string>) => headers

async function exchangeOnce(network: Network, call: ApiRequest, url: URL): Promise<ApiAnswer> {
  const { method, headers, body, signal } = call
  const proxy = network.proxyOf(url)
  try {
    const response = await sendRequest(network, url, {
      method: method as Dispatcher.HttpMethod,
      headers: { ...headers, 'accept-encoding': 'gzip' },
      ...(body !== undefined && { body }),
      ...(signal && { signal }),
    })
    const bytes = await readBody(response, url)
    const header = (name: string) => response.headers[name]?.toString()
    const status = response.statusCode
    const failure = failureOfAnswer({ url, proxy }, status, header('content-type'))
    if (failure) throw new NetworkError(failure)
    const headersOf = { get: (name: string) => header(name) ?? null }
    const answer = { status, headers: headersOf, body: bytes }
    checkAnswer(url, call, answer)
    return answer
  } catch (error) {
    if (error instanceof NetworkError) throw error
    throw new NetworkError(failureOf(error, { url, proxy }), { cause: error })
  }
}

async function readBody(response: Dispatcher.ResponseData, url: URL): Promise<Uint8Array> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of response.body as AsyncIterable<Buffer>) {
    parts.push(part)
    bytes += part.length
    if (bytes > maxBodyBytes) throw notReadable(url, 'its answer is too long')
  }
  const body = Buffer.concat(parts)
  const encoding = response.headers['content-encoding']?.toString() ?? 'identity'
  if (encoding === 'identity' || bytes === 0) return body
  if (encoding !== 'gzip') throw notReadable(url, `its answer is encoded as ${encoding}`)
  try {
    return gunzipSync(body, { maxOutputLength: maxBodyBytes })
  } catch (error) {
    throw notReadable(url, 'its answer is not what it says: gzip', error)
  }
}

function notReadable({ host }: URL, detail: string, cause?: unknown) {
  return new NetworkError({ code: 'not_a_registry', reason: 'not_json', host, detail }, { cause })
}
