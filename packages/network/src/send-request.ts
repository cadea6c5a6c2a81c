import type { Dispatcher } from 'undici'
import request from 'undici/lib/api/api-request.js'
import type { Network } from './dispatcher.ts'

/** Sends one request and resolves with the head of its answer. Follows no redirects. Rejects with an error for `failureOf`. */
export function sendRequest(
  network: Network,
  url: URL,
  options: Omit<Dispatcher.RequestOptions, 'origin' | 'path'>,
): Promise<Dispatcher.ResponseData> {
  const { headersMs, stallMs } = network.settings.timeouts
  return request.call(network.agentFor(url), {
    headersTimeout: headersMs, // not every pool behind a proxy has them
    bodyTimeout: stallMs,
    ...options,
    origin: url.origin,
    path: url.pathname + url.search,
  })
}
