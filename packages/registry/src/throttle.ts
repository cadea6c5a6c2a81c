/**
 * Creates a function that calls `act` immediately, unless it has already called `act` within the last `intervalMs`; in
 * that case, the call has no effect.
 */
export function throttle<A extends unknown[]>(intervalMs: number, act: (...values: A) => void) {
  let last = Number.NEGATIVE_INFINITY
  return (...values: A) => {
    const now = performance.now()
    if (now - last < intervalMs) return
    last = now
    act(...values)
  }
}
