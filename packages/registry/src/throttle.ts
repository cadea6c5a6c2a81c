/**
 * Creates a function that calls `act` at most once per `intervalMs`, beginning with the first call; further calls do
 * nothing.
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
