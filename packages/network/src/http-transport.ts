/**
 * The transport for Node. Retries a call if a retry may help, until there is a complete response or the time limit is
 * reached.
 */
import { sleep } from '@shoal/core/async'
import {
  type ApiAnswer,
  type ApiRequest,
  isTransient,
  NetworkError,
  problemIn,
  type RetryTimes,
  type Transport,
} from '@shoal/protocol/client'
import { parseRetryAfter } from '@shoal/protocol/retry-after'
import { backoffMs } from './backoff.ts'
import type { Network } from './dispatcher.ts'
import { exchange } from './exchange.ts'

/** The idempotent methods (RFC 9110, section 9.2.2) among those that the registry's endpoints have. */
const idempotentMethods = ['GET', 'PUT', 'DELETE']
const firstContactMs = 1_500
const maxGiveUpMs = 30_000
const maxRetriesOf500 = 2
/** Limits on the waits that a registry requests, for calls without their own limits (`retry`). */
const maxAskedWaits = 5
const maxAskedMs = 600_000

/**
 * Returns a transport that sends calls over `network`. It retries any call after a 429 or 503 response with
 * `Retry-After`. After a temporary network failure or any other 500, 502, 503 or 504 response, it retries only calls
 * that are safe to repeat. It never retries if the registry's storage is full.
 *
 * A DELETE request whose response was lost may have been carried out. If the registry then responds to the next attempt
 * that there is nothing to delete, the call succeeds, with status 204.
 */
export function httpTransport(network: Network): Transport {
  const giveUpMs = Math.min(maxGiveUpMs, network.settings.timeouts.giveUpMs)
  const defaultRetry: RetryTimes = { firstContactMs, giveUpMs }
  let hasAnswered = false

  return async (call) => {
    const retry = call.retry ?? defaultRetry
    const startedAt = performance.now()
    let askedWaits = 0
    let mayBeDone = false
    for (let failures = 1; ; failures += 1) {
      const received = await exchange(network, call).catch((error: unknown) => {
        call.signal?.throwIfAborted()
        if (error instanceof NetworkError) return error
        throw error
      })
      const result = mayBeDone && isGone(received, call) ? toDeleted(received) : received
      const wait = waitBefore(result, failures, call)
      if (wait === undefined && !(result instanceof NetworkError)) hasAnswered = true
      if (wait?.isAsked) askedWaits += 1
      else mayBeDone ||= wasSent(result)
      const waitedMs = performance.now() - startedAt
      if (wait === undefined || isEnough(wait, waitedMs)) {
        if (result instanceof NetworkError) throw result
        return result
      }
      call.onWait?.({ seconds: wait.ms / 1000, reason: wait.reason })
      await sleep(wait.ms, call.signal)
    }

    function isEnough({ ms, isAsked }: Pause, waitedMs: number): boolean {
      if (isAsked && !call.retry) return askedWaits > maxAskedWaits || ms > maxAskedMs
      return waitedMs + ms > (hasAnswered || isAsked ? retry.giveUpMs : retry.firstContactMs)
    }
  }
}

/** The reasons why a request was not even sent. */
const notConnected = ['dns', 'refused', 'no_route']

const wasSent = (result: ApiAnswer | NetworkError) =>
  !(result instanceof NetworkError) || !notConnected.includes(result.failure.reason)

/** Whether the response to a DELETE request means that there is nothing to delete, and not that it is elsewhere. */
const isGone = (result: ApiAnswer | NetworkError, { method }: ApiRequest): result is ApiAnswer =>
  method === 'DELETE' &&
  !(result instanceof NetworkError) &&
  result.status === 404 &&
  toProblem(result)?.code !== 'model_renamed'

const toDeleted = ({ headers }: ApiAnswer) => ({ status: 204, headers, body: new Uint8Array() })

type Pause = { ms: number; reason: string; isAsked: boolean }

/** Returns how long to wait before the next attempt; undefined if the call must not be retried. */
function waitBefore(
  result: ApiAnswer | NetworkError,
  failures: number,
  call: ApiRequest,
): Pause | undefined {
  const mayRepeat = call.route?.isRepeatable ?? idempotentMethods.includes(call.method)
  const backoff = { ms: backoffMs(failures), isAsked: false }
  if (result instanceof NetworkError) {
    const isWorthIt = mayRepeat && isTransient(result.failure)
    return isWorthIt ? { ...backoff, reason: result.message } : undefined
  }
  const { status } = result
  const { host } = new URL(call.url)
  const seconds = retryAfterSeconds(result)
  if (seconds !== undefined) {
    // The registry has not processed the call, so any call can be sent again. The random delay spreads out the retries
    // of many clients.
    const ms =
      seconds === 0 ? backoff.ms : seconds * 1000 + Math.random() * Math.min(1000, seconds * 100)
    return { ms, reason: `${host} is busy (${status})`, isAsked: true }
  }
  // A reverse proxy returns a 502, 503 or 504 if its registry is down. A 500 usually indicates a bug.
  const isPassing =
    [502, 503, 504].includes(status) || (status === 500 && failures <= maxRetriesOf500)
  if (!isPassing || !mayRepeat || isStorageFull(result)) return undefined
  return { ...backoff, reason: `${host} returned status ${status}` }
}

/** Returns the wait that the registry requests, in seconds; undefined if there is none, or if waiting does not help. */
function retryAfterSeconds(answer: ApiAnswer): number | undefined {
  const { status, headers } = answer
  if (status !== 429 && status !== 503) return undefined
  const seconds = parseRetryAfter(headers.get('retry-after'))
  const isFull = isStorageFull(answer)
  return isFull ? undefined : seconds
}

/** Whether the registry's storage is full. Waiting does not free storage. */
const isStorageFull = (answer: ApiAnswer) => toProblem(answer)?.code === 'storage_full'

const toProblem = ({ body }: ApiAnswer) => problemIn(Buffer.from(body).toString())
