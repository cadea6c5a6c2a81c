import { once } from 'node:events'
import type { Writable } from 'node:stream'

/**
 * Resolves when the client can receive more, or has disconnected. Removes its listeners, which would otherwise
 * accumulate on a long stream.
 */
export async function whenDrained(response: Writable): Promise<void> {
  const over = new AbortController()
  const options = { signal: over.signal }
  try {
    await Promise.race([once(response, 'drain', options), once(response, 'close', options)])
  } finally {
    over.abort()
  }
}
