/** A function that passes on its first call, then at most one call per `everyMs`; further calls do nothing. */
export function atMostEvery<A extends unknown[]>(ms: number, act: (...values: A) => void) {
  let last = Number.NEGATIVE_INFINITY
  return (...values: A) => {
    const now = performance.now()
    if (now - last < ms) return
    last = now
    act(...values)
  }
}
