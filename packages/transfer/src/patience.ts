import { backoffMs } from '@shoal/network'
import type { WaitingEvent } from './events.ts'
import { sleep } from './sleep.ts'
import { errorOfTrouble, type Trouble } from './trouble.ts'

export type Patience = ReturnType<typeof patience>

/**
 * How long a transfer puts up with trouble. Every request waits for one gate. A wait that the other side asks for
 * closes it, and so does trouble while nothing else gets through; otherwise only the troubled request pauses.
 */
export function patience(options: {
  /** Bytes that came through so far, by any request. Sent in vain or twice, they do not count. */
  movedBytes: () => number
  longestWaitMs: number
  giveUpMs: number
  signal: AbortSignal
  report: (event: WaitingEvent) => void
}) {
  const { movedBytes, longestWaitMs, giveUpMs, signal, report } = options
  let seen = movedBytes()
  let lastMoveAt = performance.now()
  let gateOpensAt = 0
  let closings = 0

  /** To be called often: sees whether anything moves. */
  function look() {
    const moved = movedBytes()
    if (moved <= seen) return
    seen = moved
    lastMoveAt = performance.now()
    closings = 0
  }

  function closeGate(milliseconds: number, reason: string) {
    const opensAt = performance.now() + milliseconds
    const isNews = opensAt > gateOpensAt + 100
    if (opensAt > gateOpensAt) gateOpensAt = opensAt
    if (isNews) report({ type: 'waiting', seconds: milliseconds / 1000, reason })
  }

  return {
    look,

    /** Waits until requests may go out. */
    async gate() {
      for (;;) {
        const milliseconds = gateOpensAt - performance.now()
        if (milliseconds <= 0) return
        await sleep(milliseconds, signal)
      }
    },

    /** After trouble: waits as long as is right, or throws when there is no more hope. `inARow` counts from 1. */
    async endure(trouble: Trouble, inARow: number) {
      look()
      const now = performance.now()
      if (now - lastMoveAt > giveUpMs) throw errorOfTrouble(trouble)
      if (trouble.retryAfterSeconds !== undefined) {
        const retryAfterMs = trouble.retryAfterSeconds * 1000
        if (retryAfterMs > giveUpMs) throw errorOfTrouble(trouble)
        closeGate(retryAfterMs, trouble.message)
        return
      }
      const isAlive = now - lastMoveAt < 2000
      if (isAlive) return sleep(backoffMs(inARow, longestWaitMs), signal)
      if (now < gateOpensAt) return
      closings += 1
      closeGate(backoffMs(closings, longestWaitMs), trouble.message)
    },
  }
}
