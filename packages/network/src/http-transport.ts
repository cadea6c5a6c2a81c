/** The transport of programs that run in Node: one try after another, through redirects, until an answer is whole. */
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import {
  type ApiAnswer,
  type ApiRequest,
  isTransient,
  NetworkError,
  type RetryTimes,
  type Transport,
} from '@shoal/protocol/client'
import type { Dispatcher } from 'undici'
import { backoffMs } from './backoff.ts'
import type { Network } from './dispatcher.ts'
import { failureOf, failureOfAnswer } from './failure-of.ts'
import { apiRedirect, maxRedirects, redirectRefused } from './redirect.ts'
import { sendRequest } from './send-request.ts'

const firstContactMs = 1_500
const longestGiveUpMs = 30_000
const maxRetriesOf500 = 2
/** Larger than the download information of a file of 10 TB. */
const maxBodyBytes = 64 * 1024 * 1024

/** Repeatable requests are sent again where no answer came, or none but 502, 503, 504 or a plain 500. */
export function httpTransport(network: Network): Transport {
  const giveUpMs = Math.min(longestGiveUpMs, network.settings.timeouts.giveUpMs)
  const defaultRetry: RetryTimes = { firstContactMs, giveUpMs }
  let hasAnswered = false

  return async (call) => {
    const startedAt = performance.now()
    for (let failures = 1; ; failures += 1) {
      const result = await exchange(network, call).catch((error: unknown) => {
        call.signal?.throwIfAborted()
        if (error instanceof NetworkError) return error
        throw error
      })
      const reason = retryReason(result, failures)
      if (reason === undefined && !(result instanceof NetworkError)) hasAnswered = true
      const retry = call.retry ?? defaultRetry
      const waitMs = backoffMs(failures)
      const waitedMs = performance.now() - startedAt
      const isLate = waitedMs + waitMs > (hasAnswered ? retry.giveUpMs : retry.firstContactMs)
      if (reason === undefined || !call.isRepeatable || isLate) {
        if (result instanceof NetworkError) throw result
        return result
      }
      call.onWait?.({ seconds: waitMs / 1000, reason })
      await sleep(waitMs, undefined, call.signal && { signal: call.signal }).catch((error) => {
        throw call.signal?.aborted ? call.signal.reason : error
      })
    }
  }
}

/** Why a request is worth another try, as a reason to wait; undefined where it is not. */
function retryReason(result: ApiAnswer | NetworkError, failures: number): string | undefined {
  if (result instanceof NetworkError) {
    return isTransient(result.failure) ? result.message : undefined
  }
  const { status } = result
  // With `Retry-After` the client itself waits as long as it is asked to.
  if (result.header('retry-after')) return undefined
  // The first are of a proxy whose registry is away. The last is a defect more often than not.
  const isPassing =
    [502, 503, 504].includes(status) || (status === 500 && failures <= maxRetriesOf500)
  if (!isPassing) return undefined
  return `the registry answered ${status}`
}

async function exchange(network: Network, call: ApiRequest): Promise<ApiAnswer> {
  let url = new URL(call.url)
  let { headers } = call
  for (let redirects = 0; redirects <= maxRedirects; redirects += 1) {
    const answer = await exchangeOnce(network, { ...call, headers }, url)
    const location = answer.header('location')
    const isRedirect = answer.status >= 300 && answer.status < 400 && location !== undefined
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
    return { status, header, body: bytes }
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
