/** The time that a program measures, and its timers. A test passes a clock that it moves forward, instead of waiting. */
export interface Clock {
  /** Milliseconds since an arbitrary moment. Setting the system clock does not affect this time. */
  now(): number
  /** Calls `run` once, after `ms` milliseconds. Returns a function that cancels the call. */
  after(ms: number, run: () => void): () => void
}

/**
 * The real time. A pending call does not keep the process running. Only for Node, since the timers of browsers have no
 * `unref`.
 */
export const systemClock: Clock = {
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms).unref()
    return () => clearTimeout(timer)
  },
}

/** The real time. A pending call keeps the process running. */
export const waitingClock: Clock = {
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
}
