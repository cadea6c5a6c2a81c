import { sleep } from '@shoal/core/async'
import { backoffMs } from '@shoal/network/backoff'
import type { WaitingEvent } from './events.ts'
import { classifyError, type TransferFailure, toError } from './failure.ts'

/** While something moves, only the request that failed waits, and nobody is told. */
const quietMs = 2_000
/** A 500 is usually a defect of the registry, which time does not restore. */
const maxRetriesOf500 = 5

export type RetrierOptions = {
  /** Bytes that came through so far, by any request. Sent in vain or twice, they do not count. Where it is not given, `noteMove` tells. */
  movedBytes?: () => number
  /** Of the waits that nobody asked for. */
  maxWaitMs: number
  /** So long may pass without anything getting through. */
  timeoutMs: number
  signal: AbortSignal
  /** Of the API whose calls are made, as people know it. */
  host?: string
  /** Called before a wait that holds up every request. */
  report: (event: WaitingEvent, failure: TransferFailure) => void
  /** Called when something gets through after such a wait. */
  onMoving?: () => void
  /** Whether the system says that there is no network: then nothing moves, whatever moved a moment ago. */
  isOffline?: () => boolean
}

/**
 * The rule by which a transfer retries. Every request waits for one gate. A wait that the other side asks for (`Retry-After`) closes it,
 * and so does trouble while nothing else gets through; otherwise only the troubled request pauses. Waits grow, with jitter.
 */
export interface Retrier {
  /** To be called often where there is `movedBytes`: sees whether anything moves. */
  poll(): void
  /** Something got through. */
  noteMove(): void
  /** Waits until requests may go out. Rejects with the signal's reason. */
  waitUntilOpen(): Promise<void>
  /** After trouble: waits as long as is right, or throws `toError` when there is no more hope. `inARow` counts from 1. */
  waitOrThrow(failure: TransferFailure, inARow: number): Promise<void>
  /**
   * Repeats a call that is safe to repeat until it is answered. Throws its error where that does not help, or took too long.
   * An answer counts as progress unless `isProgress` is false.
   */
  call<T>(act: () => Promise<T>, options?: { isProgress: boolean }): Promise<T>
  /** The network is back: ends the waits that nobody asked for. */
  wake(): void
}

/**
 * @example
 * import { createRetrier } from '@shoal/transfer/push'
 *
 * const retrier = createRetrier({
 *   maxWaitMs: 2_000,
 *   timeoutMs: 60_000,
 *   signal: AbortSignal.timeout(120_000), // milliseconds
 *   report: ({ seconds, reason }) => console.log(seconds, reason),
 * })
 * const model = await retrier.call(() => client.getModel('tide'))
 */
export function createRetrier(options: RetrierOptions): Retrier {
  const { movedBytes = () => 0, maxWaitMs, timeoutMs, signal, report } = options
  let seen = movedBytes()
  let lastMoveAt = performance.now()
  let gateOpensAt = 0
  let askedUntil = 0
  let closings = 0
  let isReported = false
  let awake = new AbortController()

  function poll() {
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

  function closeGate(waitMs: number, reason: string, failure: TransferFailure) {
    const opensAt = performance.now() + waitMs
    const isNews = opensAt > gateOpensAt + 100
    if (opensAt > gateOpensAt) gateOpensAt = opensAt
    if (!isNews) return
    isReported = true
    report({ type: 'waiting', seconds: waitMs / 1000, reason }, failure)
  }

  async function pause(waitMs: number) {
    const { signal: wakes } = awake
    await sleep(waitMs, AbortSignal.any([signal, wakes])).catch((error: unknown) => {
      signal.throwIfAborted()
      if (!wakes.aborted) throw error
    })
  }

  async function waitUntilOpen() {
    for (;;) {
      const waitMs = gateOpensAt - performance.now()
      if (waitMs <= 0) return
      await pause(waitMs)
    }
  }

  function hasTimedOut({ retryAfterSeconds = 0 }: TransferFailure): boolean {
    poll()
    return performance.now() - lastMoveAt > timeoutMs || retryAfterSeconds * 1000 > timeoutMs
  }

  async function waitFor(failure: TransferFailure, inARow: number) {
    const now = performance.now()
    if (failure.retryAfterSeconds !== undefined) {
      const retryAfterMs = failure.retryAfterSeconds * 1000
      askedUntil = Math.max(askedUntil, now + retryAfterMs)
      return closeGate(retryAfterMs, failure.message, failure)
    }
    const isAlive = now - lastMoveAt < quietMs && !options.isOffline?.()
    if (isAlive) return pause(backoffMs(inARow, maxWaitMs))
    if (now < gateOpensAt) return
    closings += 1
    closeGate(backoffMs(closings, maxWaitMs), failure.message, failure)
  }

  return {
    poll,
    noteMove,
    waitUntilOpen,

    async waitOrThrow(failure, inARow) {
      if (hasTimedOut(failure)) throw toError(failure)
      await waitFor(failure, inARow)
    },

    async call(act, { isProgress } = { isProgress: true }) {
      for (let inARow = 1; ; inARow += 1) {
        await waitUntilOpen()
        try {
          const answer = await act()
          if (isProgress) noteMove()
          return answer
        } catch (error) {
          signal.throwIfAborted()
          const failure = classifyError(error, options.host ?? '')
          const isDefect = failure?.status === 500 && inARow > maxRetriesOf500
          if (!failure || isDefect || hasTimedOut(failure)) throw error
          await waitFor(failure, inARow)
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
