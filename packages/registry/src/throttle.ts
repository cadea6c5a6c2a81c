/**
 * Creates a function that calls `act` at most once per `intervalMs`: its first call runs `act` immediately, and calls
 * within the interval after that have no effect.
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
