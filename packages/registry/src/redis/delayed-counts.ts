import type { SharedState } from './open-redis.ts'
import { addShared, type SharedCount } from './shared-counts.ts'

/** Interval at which nodes exchange their counts. The counts of other nodes may be this old. */
const exchangeIntervalMs = 100

type Entry = {
  windowMs: number
  /** The total count of all nodes at the last exchange. */
  known: number
  /** This node's counts since that exchange: `sending` are being sent to Redis, and `unsent` have yet to be sent. */
  sending: number
  unsent: number
  endsAt: number
}

/**
 * Counts events per key in fixed time windows, over all nodes. Counting does not wait for Redis, because nodes exchange
 * their counts every 100 ms. While Redis does not respond, each node adds only its own counts. At most `maxKeys` keys
 * are kept; the least recently counted key is removed first.
 */
export function delayedCounts(shared: SharedState, maxKeys: number) {
  const entries = new Map<string, Entry>()
  const changed = new Set<string>()
  let isScheduled = false

  async function exchange() {
    const keys = [...changed]
    changed.clear()
    await Promise.all(keys.map(exchangeOne))
    isScheduled = false
    if (changed.size > 0) exchangeSoon()
  }

  async function exchangeOne(key: string) {
    const entry = entries.get(key)
    if (!entry) return
    const { unsent: sending, windowMs } = entry
    Object.assign(entry, { sending, unsent: 0 })
    const sum = await shared.use<SharedCount | undefined>(
      () => addShared(shared, key, windowMs, sending),
      () => undefined,
    )
    entry.sending = 0
    if (sum) Object.assign(entry, { known: sum.count, endsAt: performance.now() + sum.msLeft })
    else entry.known += sending
  }

  function exchangeSoon() {
    if (isScheduled) return
    isScheduled = true
    setTimeout(exchange, exchangeIntervalMs).unref()
  }

  return {
    /** Adds one to the key's count, and returns the new count. */
    add(key: string, windowMs: number): SharedCount {
      const now = performance.now()
      const found = entries.get(key)
      const entry =
        found && found.endsAt > now
          ? found
          : { windowMs, known: 0, sending: 0, unsent: 0, endsAt: now + windowMs }
      entry.unsent += 1
      entries.delete(key)
      entries.set(key, entry)
      if (entries.size > maxKeys) entries.delete(entries.keys().next().value ?? '')
      changed.add(key)
      exchangeSoon()
      return { count: entry.known + entry.sending + entry.unsent, msLeft: entry.endsAt - now }
    },
  }
}
