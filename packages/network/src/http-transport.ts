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
import { isRepeatable } from './endpoints.ts'
import { exchange } from './exchange.ts'

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
 */
export function httpTransport(network: Network): Transport {
  const giveUpMs = Math.min(maxGiveUpMs, network.settings.timeouts.giveUpMs)
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
      await sleep(wait.ms, call.signal)
    }

    function isEnough({ ms, isAsked }: Pause, waitedMs: number): boolean {
      if (isAsked && !call.retry) return askedWaits > maxAskedWaits || ms > maxAskedMs
      return waitedMs + ms > (hasAnswered || isAsked ? retry.giveUpMs : retry.firstContactMs)
    }
  }
}

type Pause = { ms: number; reason: string; isAsked: boolean }

/** Returns how long to wait before the next attempt; undefined if the call must not be retried. */
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
const isStorageFull = ({ body }: ApiAnswer) =>
  problemIn(Buffer.from(body).toString())?.code === 'storage_full'
