export type WindowCount = {
  count: number
  /** Until the count begins again at zero. */
  msLeft: number
}

/**
 * Counts by key in fixed windows of time. At most `maxKeys` are kept; the least recently counted goes first. Time comes
 * from a monotonic clock: when the system's clock is set back, no window lasts longer for it.
 */
export function windowCounts(maxKeys: number) {
  const windows = new Map<string, { count: number; endsAt: number }>()

  function current(key: string, windowMs: number) {
    const window = windows.get(key)
    const now = performance.now()
    return window && window.endsAt > now ? window : { count: 0, endsAt: now + windowMs }
  }

  return {
    /** Counts one more and returns the count with it. */
    add(key: string, windowMs: number): WindowCount {
      const window = current(key, windowMs)
      window.count += 1
      windows.delete(key)
      windows.set(key, window)
      if (windows.size > maxKeys) windows.delete(windows.keys().next().value ?? '')
      return { count: window.count, msLeft: window.endsAt - performance.now() }
    },

    /** The count as it is. */
    read(key: string, windowMs: number): WindowCount {
      const { count, endsAt } = current(key, windowMs)
      return { count, msLeft: endsAt - performance.now() }
    },
  }
}
