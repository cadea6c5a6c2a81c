import { type Clock, waitingClock } from '@shoal/core/async'
import type { Speed } from './events.ts'

/** The period over which the speed is averaged. */
const smoothingMs = 3000

/** Converts byte counts to progress and a smoothed speed. */
export interface ProgressMeter {
  /**
   * Must be called several times a second. `bytesHere` is the number of valid bytes of the file so far. It may decrease
   * when a bad chunk is discarded, but `bytesDone` never does. `movedBytes` is the total number of bytes transferred so
   * far, valid or not; it determines the speed.
   */
  read(bytesHere: number, movedBytes: number): Speed & { bytesDone: number; bytesTotal: number }
}

/**
 * Creates a meter for a transfer of `bytesTotal` bytes.
 * @example
 * import { progressMeter } from '@shoal/transfer/push'
 *
 * const meter = progressMeter(file.file_size_bytes)
 * const { bytesDone, bytesPerSecond } = meter.read(500_000, 500_000)
 */
export function progressMeter(bytesTotal: number, clock: Clock = waitingClock): ProgressMeter {
  const startedAt = clock.now()
  let lastAt = startedAt
  let lastMoved = 0
  let perMs = 0
  let shown = 0

  return {
    read(bytesHere, movedBytes) {
      const now = clock.now()
      const elapsed = now - lastAt
      if (elapsed > 0) {
        // At first, the speed is a simple average over the whole transfer. Later, older bytes have less and less
        // weight.
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
