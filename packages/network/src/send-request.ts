import type { Dispatcher } from 'undici'
import request from 'undici/lib/api/api-request.js'
import type { Network } from './dispatcher.ts'

/** One request without redirects; resolves with the head of the answer. Rejects with undici's errors: see `failureOf`. */
export function sendRequest(
  network: Network,
  url: URL,
  options: Omit<Dispatcher.RequestOptions, 'origin' | 'path'>,
): Promise<Dispatcher.ResponseData> {
  const { headersMs, stallMs } = network.settings.timeouts
  return request.call(network.agentFor(url), {
    headersTimeout: headersMs, // pools behind proxies do not all know them
    bodyTimeout: stallMs,
    ...options,
    origin: url.origin,
    path: url.pathname + url.search,
  })
}
