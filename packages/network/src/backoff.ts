const firstMs = 250
/** A registry that is back is noticed within it, and one that is busy is not asked by everybody at once. */
const longestMs = 2_000

/** How long to wait after the failure number `count`, from 1: growing, with jitter so that many clients do not come back at once. */
export function backoffMs(count: number, maxMs = longestMs): number {
  const milliseconds = Math.min(maxMs, firstMs * 2 ** Math.min(count - 1, 20))
  return milliseconds * (0.5 + Math.random() / 2)
}
