/** Maximum burst after a pause, expressed as time at the full rate. */
const burstNs = 50_000_000n

export type RateLimit = {
  /** Counts `bytes`, and returns how many milliseconds to wait before taking more. */
  take(bytes: number): number
}

/**
 * Creates a rate limit that all threads share. `clock` contains the time up to which the allowance has been used, in
 * nanoseconds of the process's monotonic clock. Each `take` advances that time atomically, so that no lock is needed.
 */
export function rateLimit(
  bytesPerSecond: number | undefined,
  clock: BigInt64Array<SharedArrayBuffer>,
): RateLimit {
  if (bytesPerSecond === undefined) return { take: () => 0 }
  const rate = Math.max(1, bytesPerSecond)

  return {
    take(bytes) {
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
