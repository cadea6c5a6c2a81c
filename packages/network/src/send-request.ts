import type { Dispatcher } from 'undici'
import request from 'undici/lib/api/api-request.js'
import type { Network } from './dispatcher.ts'

/**
 * Sends one request and resolves with the response headers. Does not follow redirects. Rejects with an error that
 * `toNetworkFailure` can convert.
 */
export function sendRequest(
  network: Network,
  url: URL,
  options: Omit<Dispatcher.RequestOptions, 'origin' | 'path'>,
): Promise<Dispatcher.ResponseData> {
  const { headersMs, stallMs } = network.settings.timeouts
  return request.call(network.agentFor(url), {
    headersTimeout: headersMs, // some of undici's pools for proxies do not set these timeouts
    bodyTimeout: stallMs,
    ...options,
    origin: url.origin,
    path: url.pathname + url.search,
  })
}
