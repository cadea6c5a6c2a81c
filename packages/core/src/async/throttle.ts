/**
 * Returns a function that calls `act`, unless it has already done so within the last `intervalMs`. In that case, the
 * function does nothing.
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
