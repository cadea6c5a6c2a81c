/** A token bucket: allows bursts of `atOnce` calls, and `perSecond` calls on average. */
export function tokenBucket({ atOnce, perSecond }: { atOnce: number; perSecond: number }) {
  let tokens = atOnce
  let refilledAt = performance.now()

  return {
    take(): boolean {
      const now = performance.now()
      tokens = Math.min(atOnce, tokens + ((now - refilledAt) / 1_000) * perSecond)
      refilledAt = now
      if (tokens < 1) return false
      tokens -= 1
      return true
    },
  }
}
