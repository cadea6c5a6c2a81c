import type { NetworkSettings } from '@shoal/network'
import { NetworkError } from '@shoal/protocol/client'
import type { TrackerFetch } from './tracker-announce.ts'

/** Announces go the way of all requests, which is loaded by the first. Rejects with a `NetworkError`. */
export function trackerFetch(settings: NetworkSettings): TrackerFetch {
  return async (url, { signal }) => {
    const { failureOf, failureOfAnswer, openNetwork, sendRequest } = await import(
      '@shoal/network/requests'
    )
    const network = openNetwork(settings)
    const headers = { connection: 'close' } // the next one is minutes away
    const address = new URL(url)
    const asked = { url: address, proxy: network.proxyOf(address) }
    try {
      const response = await sendRequest(network, address, { method: 'GET', headers, signal })
      const { statusCode, body } = response
      const type = response.headers['content-type']?.toString()
      const failure = failureOfAnswer(asked, statusCode, type)
      if (failure) {
        await body.dump()
        throw new NetworkError(failure)
      }
      return { ok: statusCode >= 200 && statusCode < 300, body }
    } catch (error) {
      const isLate = signal.reason instanceof DOMException && signal.reason.name === 'TimeoutError'
      if (!isLate) signal.throwIfAborted()
      const detail = 'the tracker does not answer'
      const late = { code: 'unreachable', reason: 'timeout', host: address.host, detail } as const
      throw new NetworkError(isLate ? late : failureOf(error, asked), { cause: error })
    }
  }
}
