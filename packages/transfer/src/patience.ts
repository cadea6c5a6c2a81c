import { sleep } from '@shoal/core/async'
import { backoffMs } from '@shoal/network/backoff'
import type { WaitingEvent } from './events.ts'
import { errorOfTrouble, type Trouble, troubleOf } from './trouble.ts'

/** While something moves, only the request that failed waits, and nobody is told. */
const quietMs = 2_000
/** A 500 is usually a defect of the registry, which time does not mend. */
const maxRetriesOf500 = 5

export type PatienceOptions = {
  /** Bytes that came through so far, by any request. Sent in vain or twice, they do not count. Where it is not given, `noteMove` tells. */
  movedBytes?: () => number
  /** Of the waits that nobody asked for. */
  longestWaitMs: number
  /** So long may pass without anything getting through. */
  giveUpMs: number
  signal: AbortSignal
  /** Of the API whose calls are made, as people know it. */
  host?: string
  /** Called before a wait that holds up every request. */
  report: (event: WaitingEvent, trouble: Trouble) => void
  /** Called when something gets through after such a wait. */
  onMoving?: () => void
  /** Whether the system says that there is no network: then nothing moves, whatever moved a moment ago. */
  isOffline?: () => boolean
}

/**
 * The rule by which a transfer retries. Every request waits for one gate. A wait that the other side asks for (`Retry-After`) closes it,
 * and so does trouble while nothing else gets through; otherwise only the troubled request pauses. Waits grow, with jitter.
 */
export interface Patience {
  /** To be called often where there is `movedBytes`: sees whether anything moves. */
  look(): void
  /** Something got through. */
  noteMove(): void
  /** Waits until requests may go out. Rejects with the signal's reason. */
  gate(): Promise<void>
  /** After trouble: waits as long as is right, or throws `errorOfTrouble` when there is no more hope. `inARow` counts from 1. */
  endure(trouble: Trouble, inARow: number): Promise<void>
  /**
   * Repeats a call that is safe to repeat until it is answered. Throws its error where that does not help, or took too long.
   * An answer counts as progress unless `isProgress` is false.
   */
  call<T>(act: () => Promise<T>, options?: { isProgress: boolean }): Promise<T>
  /** The network is back: ends the waits that nobody asked for. */
  wake(): void
}

export function patience(options: PatienceOptions): Patience {
  const { movedBytes = () => 0, longestWaitMs, giveUpMs, signal, report } = options
  let seen = movedBytes()
  let lastMoveAt = performance.now()
  let gateOpensAt = 0
  let askedUntil = 0
  let closings = 0
  let isReported = false
  let awake = new AbortController()

  function look() {
    const moved = movedBytes()
    if (moved <= seen) return
    seen = moved
    noteMove()
  }

  function noteMove() {
    lastMoveAt = performance.now()
    closings = 0
    if (!isReported || gateOpensAt > lastMoveAt) return
    isReported = false
    options.onMoving?.()
  }

  function closeGate(waitMs: number, reason: string, trouble: Trouble) {
    const opensAt = performance.now() + waitMs
    const isNews = opensAt > gateOpensAt + 100
    if (opensAt > gateOpensAt) gateOpensAt = opensAt
    if (!isNews) return
    isReported = true
    report({ type: 'waiting', seconds: waitMs / 1000, reason }, trouble)
  }

  async function pause(waitMs: number) {
    const { signal: wakes } = awake
    await sleep(waitMs, AbortSignal.any([signal, wakes])).catch((error: unknown) => {
      signal.throwIfAborted()
      if (!wakes.aborted) throw error
    })
  }

  async function gate() {
    for (;;) {
      const waitMs = gateOpensAt - performance.now()
      if (waitMs <= 0) return
      await pause(waitMs)
    }
  }

  function isHopeless({ retryAfterSeconds = 0 }: Trouble): boolean {
    look()
    return performance.now() - lastMoveAt > giveUpMs || retryAfterSeconds * 1000 > giveUpMs
  }

  async function waitFor(trouble: Trouble, inARow: number) {
    const now = performance.now()
    if (trouble.retryAfterSeconds !== undefined) {
      const retryAfterMs = trouble.retryAfterSeconds * 1000
      askedUntil = Math.max(askedUntil, now + retryAfterMs)
      return closeGate(retryAfterMs, trouble.message, trouble)
    }
    const isAlive = now - lastMoveAt < quietMs && !options.isOffline?.()
    if (isAlive) return pause(backoffMs(inARow, longestWaitMs))
    if (now < gateOpensAt) return
    closings += 1
    closeGate(backoffMs(closings, longestWaitMs), trouble.message, trouble)
  }

  return {
    look,
    noteMove,
    gate,

    async endure(trouble, inARow) {
      if (isHopeless(trouble)) throw errorOfTrouble(trouble)
      await waitFor(trouble, inARow)
    },

    async call(act, { isProgress } = { isProgress: true }) {
      for (let inARow = 1; ; inARow += 1) {
        await gate()
        try {
          const answer = await act()
          if (isProgress) noteMove()
          return answer
        } catch (error) {
          signal.throwIfAborted()
          const trouble = troubleOf(error, options.host ?? '')
          const isDefect = trouble?.status === 500 && inARow > maxRetriesOf500
          if (!trouble || isDefect || isHopeless(trouble)) throw error
          await waitFor(trouble, inARow)
        }
      }
    },

    wake() {
      gateOpensAt = askedUntil
      awake.abort()
      awake = new AbortController()
    },
  }
}
