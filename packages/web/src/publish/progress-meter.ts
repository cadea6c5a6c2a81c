/** The time over which speed is smoothed. */
const smoothingMs = 3000

export type Progress = {
  bytesDone: number
  bytesTotal: number
  bytesPerSecond: number
  /** Undefined while nothing moves. */
  secondsLeft: number | undefined
}

/** Turns what the registry has, seen now and then, into a calm speed and a progress that never runs backwards. */
export function progressMeter(bytesTotal: number, startedAt: number) {
  let lastAt = startedAt
  let lastBytes: number | undefined
  let perMs = 0
  let shown = 0
  let movingMs = 0

  return {
    read(bytesHere: number, now: number): Progress {
      // What was there before is no speed.
      const moved = lastBytes === undefined ? 0 : Math.max(0, bytesHere - lastBytes)
      const elapsed = now - lastAt
      if (elapsed > 0) {
        movingMs += elapsed
        // Young, it is the plain average; then old bytes count less and less.
        const weight = Math.max(1 - Math.exp(-elapsed / smoothingMs), elapsed / movingMs)
        perMs += weight * (moved / elapsed - perMs)
        lastAt = now
      }
      lastBytes = bytesHere
      shown = Math.min(bytesTotal, Math.max(shown, bytesHere))
      const isMoving = perMs > 0.1
      return {
        bytesDone: shown,
        bytesTotal,
        bytesPerSecond: Math.round(perMs * 1000),
        secondsLeft: isMoving ? (bytesTotal - bytesHere) / perMs / 1000 : undefined,
      }
    },
  }
}
