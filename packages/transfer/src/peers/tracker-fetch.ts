import type { NetworkSettings } from '@shoal/network'
import type { TrackerFetch } from './tracker-announce.ts'

/** Announces go the way of all requests. Loaded by the first. */
export function trackerFetch(settings: NetworkSettings): TrackerFetch {
  return async (url, { signal }) => {
    const { openNetwork, sendRequest } = await import('@shoal/network/requests')
    const network = openNetwork(settings)
    const headers = { connection: 'close' } // the next one is minutes away
    const response = await sendRequest(network, new URL(url), { method: 'GET', headers, signal })
    const { statusCode, body } = response
    return { ok: statusCode >= 200 && statusCode < 300, body }
  }
}
