import type { Speed } from './events.ts'

/** The time over which speed is smoothed. */
const smoothingMs = 3000

/** Turns a count of bytes into a calm speed. */
export interface ProgressMeter {
  /**
   * To be called several times a second. `bytesHere`: bytes of the file that are here now, which may fall when a bad chunk is dropped;
   * `bytesDone` does not. `movedBytes`: bytes that moved so far, from which the speed comes.
   */
  read(bytesHere: number, movedBytes: number): Speed & { bytesDone: number; bytesTotal: number }
}

/**
 * For a file of `bytesTotal` bytes.
 * @example
 * import { progressMeter } from '@shoal/transfer/push'
 *
 * const meter = progressMeter(file.file_size_bytes)
 * const { bytesDone, bytesPerSecond } = meter.read(500_000, 500_000)
 */
export function progressMeter(bytesTotal: number): ProgressMeter {
  const startedAt = performance.now()
  let lastAt = startedAt
  let lastMoved = 0
  let perMs = 0
  let shown = 0

  return {
    read(bytesHere, movedBytes) {
      const now = performance.now()
      const elapsed = now - lastAt
      if (elapsed > 0) {
        // Young, it is the plain average; then old bytes count less and less.
        const weight = Math.max(1 - Math.exp(-elapsed / smoothingMs), elapsed / (now - startedAt))
        perMs += weight * (Math.max(0, movedBytes - lastMoved) / elapsed - perMs)
        lastAt = now
        lastMoved = movedBytes
      }
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
