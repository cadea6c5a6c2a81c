/** A function that passes on its first call, then at most one call per `everyMs`; further calls do nothing. */
export function atMostEvery<A extends unknown[]>(
  milliseconds: number,
  act: (...values: A) => void,
) {
  let last = Number.NEGATIVE_INFINITY
  return (...values: A) => {
    const now = performance.now()
    if (now - last < milliseconds) return
    last = now
    act(...values)
  }
}
