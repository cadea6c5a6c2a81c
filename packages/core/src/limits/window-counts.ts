import type { Clock } from '../async/index.ts'

export type WindowCount = {
  count: number
  /** Milliseconds until the count is reset to zero. */
  msLeft: number
}

/**
 * Counts events per key in fixed time windows. At most `maxKeys` keys are kept; the key counted least recently is
 * removed first.
 */
export function windowCounts(maxKeys: number, clock: Clock) {
  const windows = new Map<string, { count: number; endsAt: number }>()

  function current(key: string, windowMs: number, now: number) {
    const window = windows.get(key)
    return window && window.endsAt > now ? window : { count: 0, endsAt: now + windowMs }
  }

  return {
    /** Adds one to the key's count, and returns the new count. */
    add(key: string, windowMs: number): WindowCount {
      const now = clock.now()
      const window = current(key, windowMs, now)
      window.count += 1
      windows.delete(key)
      windows.set(key, window)
      if (windows.size > maxKeys) windows.delete(windows.keys().next().value ?? '')
      return { count: window.count, msLeft: window.endsAt - now }
    },

    /** Returns the current count. */
    read(key: string, windowMs: number): WindowCount {
      const now = clock.now()
      const { count, endsAt } = current(key, windowMs, now)
      return { count, msLeft: endsAt - now }
    },
  }
}
