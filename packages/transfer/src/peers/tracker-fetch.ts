import type { NetworkSettings } from '@shoal/network'
import { NetworkError } from '@shoal/protocol/client'
import type { TrackerFetch } from './tracker-announce.ts'

/** Maximum size of a response. A list of 200 peers takes 10 KiB in the long form. */
const maxBytes = 64 * 1024

/**
 * Returns a function that sends announces over the same transport as API calls, with the same rules for redirects. The
 * transport is loaded when the first announce is sent.
 */
export function trackerFetch(settings: NetworkSettings): TrackerFetch {
  return async (url, signal) => {
    const { exchange, openNetwork } = await import('@shoal/network/requests')
    const { host, pathname } = new URL(url)
    const network = openNetwork(settings)
    const headers = { accept: 'application/x-bittorrent' }
    // The tracker URL of a private model has a token in its path.
    const hasCredentials = !pathname.endsWith('/announce')
    try {
      const call = { method: 'GET', url, headers, signal }
      return await exchange(network, call, { hasCredentials, maxBytes })
    } catch (error) {
      const isLate = signal.reason instanceof DOMException && signal.reason.name === 'TimeoutError'
      if (!isLate) signal.throwIfAborted()
      if (!isLate) throw error
      const detail = 'the tracker does not respond'
      throw new NetworkError({ code: 'unreachable', reason: 'timeout', host, detail })
    } finally {
      await network.destroy() // the next announce is minutes away
    }
  }
}
