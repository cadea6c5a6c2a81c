/** A function that passes on its first call, then at most one call per `everyMs`; further calls do nothing. */
export function throttle<A extends unknown[]>(intervalMs: number, act: (...values: A) => void) {
  let last = Number.NEGATIVE_INFINITY
  return (...values: A) => {
    const now = performance.now()
    if (now - last < intervalMs) return
    last = now
    act(...values)
  }
}
