/** Maximum burst after a pause, expressed as time at the full rate. */
const burstNs = 50_000_000n

export type RateLimit = {
  /** Counts `bytes`, and returns how many milliseconds to wait before taking more. */
  take(bytes: number): number
}

/**
 * The state of a rate limit, which threads can share: the time up to which the allowance has been used, in nanoseconds
 * of the process's monotonic clock, and the rate in bytes per second, or 0 for no limit.
 */
export type RateClock = BigInt64Array<SharedArrayBuffer>

/** Creates the state of a rate limit. */
export function rateClock(bytesPerSecond?: number): RateClock {
  const clock = new BigInt64Array(new SharedArrayBuffer(16))
  setRate(clock, bytesPerSecond)
  return clock
}

export function setRate(clock: RateClock, bytesPerSecond: number | undefined): void {
  const rate = bytesPerSecond === undefined ? 0 : Math.max(1, Math.round(bytesPerSecond))
  Atomics.store(clock, 1, BigInt(rate))
}

/** Creates a rate limit that all threads share. Each `take` advances the clock atomically, so that no lock is needed. */
export function rateLimit(clock: RateClock): RateLimit {
  return {
    take(bytes) {
      const rate = Number(Atomics.load(clock, 1))
      if (rate === 0) return 0
      const cost = BigInt(Math.ceil((bytes * 1e9) / rate))
      for (;;) {
        const now = process.hrtime.bigint()
        const spentUpTo = Atomics.load(clock, 0)
        const from = spentUpTo > now - burstNs ? spentUpTo : now - burstNs
        const next = from + cost
        if (Atomics.compareExchange(clock, 0, spentUpTo, next) !== spentUpTo) continue
        return next > now ? Number(next - now) / 1e6 : 0
      }
    },
  }
}
