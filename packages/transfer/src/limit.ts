/** Limits of transfers that can change while the transfer is running. */

/**
 * A maximum of bytes per second, or a function that is called every second and returns the current one; undefined for
 * no limit. The function gets whether bytes have been moving since the last call.
 */
export type Limit = number | ((isMoving: boolean) => number | undefined)

const readEveryMs = 1_000

export const readLimit = (limit: Limit | undefined, isMoving = true): number | undefined =>
  typeof limit === 'function' ? limit(isMoving) : limit

/**
 * Calls `apply` with the current limit every second, unless the limit cannot change. Returns a function that ends the
 * calls. If the limit cannot be read, for example because the disk is full, the last one remains in force.
 */
export function followLimit(
  limit: Limit | undefined,
  apply: (bytesPerSecond: number | undefined) => void,
  isMoving: () => boolean = () => true,
): () => void {
  if (typeof limit !== 'function') return () => undefined
  const read = (isMovingNow: boolean) => {
    try {
      return { bytesPerSecond: limit(isMovingNow) }
    } catch {
      return undefined
    }
  }
  const timer = setInterval(() => {
    const now = read(isMoving())
    if (now) apply(now.bytesPerSecond)
  }, readEveryMs)
  timer.unref()
  return () => {
    clearInterval(timer)
    read(false) // others can use the whole limit from now on
  }
}
