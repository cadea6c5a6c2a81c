/** A token bucket: allows `atOnce` at once, and `perSecond` in the long run. */
export function tokenBucket({ atOnce, perSecond }: { atOnce: number; perSecond: number }) {
  let left = atOnce
  let countedAt = performance.now()

  return {
    take(): boolean {
      const now = performance.now()
      left = Math.min(atOnce, left + ((now - countedAt) / 1_000) * perSecond)
      countedAt = now
      if (left < 1) return false
      left -= 1
      return true
    },
  }
}
