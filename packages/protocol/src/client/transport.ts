/** Sends API calls to the registry: with `fetch` in a browser, with retries and proxies in Node. */
import type { Route } from '../routes/route.ts'
import { NetworkError } from './network-error.ts'

export type ApiRequest = {
  /** The endpoint to which the request is sent; undefined if it is not one of a registry's API. */
  route?: Route
  method: string
  url: string
  /** The header names are lowercase. */
  headers: Record<string, string>
  body?: string
  signal?: AbortSignal | undefined
  retry?: RetryTimes | undefined
  /** Called before each wait for a retry. */
  onWait?: ((wait: Wait) => void) | undefined
}

/** How long a request is retried before it fails, in milliseconds. */
export type RetryTimes = {
  /** Applies until the registry has responded for the first time, because until then, its address may be wrong. */
  firstContactMs: number
  /** Applies after the registry's first response. */
  giveUpMs: number
}

/** `reason` completes the sentence “Waiting 2 s: …”. */
export type Wait = { seconds: number; reason: string }

/** A response with its complete body. */
export type ApiAnswer = {
  status: number
  /** `name` must be lowercase. */
  headers: { get(name: string): string | null }
  body: Uint8Array
}

/**
 * Sends a request. Rejects with a `NetworkError` if there was no response, or with the signal's reason if the signal
 * was aborted.
 */
export type Transport = (request: ApiRequest) => Promise<ApiAnswer>

/**
 * Returns a transport that sends requests with `fetch`, which does not report why a request failed. It never retries.
 * @example
 * import { fetchTransport, registryClient } from '@shoal/protocol/client'
 *
 * const transport = fetchTransport()
 * const client = registryClient({ baseUrl: 'http://localhost:8000', transport })
 */
export function fetchTransport(send: typeof fetch = fetch): Transport {
  return async ({ method, url, headers, body = null, signal = null }) => {
    try {
      const response = await send(url, { method, headers, redirect: 'manual', body, signal })
      const { status, headers: answered } = response
      return { status, headers: answered, body: new Uint8Array(await response.arrayBuffer()) }
    } catch (error) {
      signal?.throwIfAborted()
      const detail = String(error)
      throw new NetworkError({ code: 'unreachable', reason: 'unknown', host: url, detail })
    }
  }
}
