import { type Clock, sleep, waitingClock } from '@shoal/core/async'
import { backoffMs } from '@shoal/network/backoff'
import type { WaitingEvent } from './events.ts'
import { classifyError, type TransferFailure, toError } from './failure.ts'

/** If there was progress within this time, only the failed request waits, and the wait is not reported. */
const quietMs = 2_000
/** Status 500 usually indicates a bug in the registry, which waiting does not fix. */
const maxRetriesOf500 = 5

export type RetrierOptions = {
  /**
   * Returns the number of useful bytes that all requests have transferred so far; bytes sent again do not count.
   * Without this function, the caller must call `noteMove`.
   */
  movedBytes?: () => number
  /** The longest wait between retries, unless the server asks for a longer one. */
  maxWaitMs: number
  /** The transfer fails after this time without progress. */
  timeoutMs: number
  signal: AbortSignal
  /** The host of the API being called, for use in messages. */
  host?: string
  /** Called before a wait that delays all requests. */
  report: (event: WaitingEvent, failure: TransferFailure) => void
  /** Called when progress resumes after a reported wait. */
  onMoving?: () => void
  /**
   * Whether the operating system reports that there is no network. If so, a failed request closes the gate even if
   * there was progress recently.
   */
  isOffline?: () => boolean
  clock?: Clock
}

/**
 * Decides when a transfer retries a request. All requests pass through one gate. The gate closes if the server requests
 * a wait (`Retry-After`), or if a request fails while no other request is making progress; otherwise, only the failed
 * request waits. Each consecutive failure makes the wait longer, with jitter.
 */
export interface Retrier {
  /** Checks `movedBytes` for progress. Must be called often if `movedBytes` is given. */
  poll(): void
  /** Records progress. */
  noteMove(): void
  /** Waits until requests may be sent. Rejects with the signal's reason. */
  waitUntilOpen(): Promise<void>
  /**
   * Call this after a failure, and `waitUntilOpen` before the next attempt. If only the failed request must wait, waits
   * for a suitable time; otherwise, closes the gate and returns immediately. Throws `toError(failure)` instead if the
   * timeout has passed, or if the server asks for a wait longer than the timeout. `inARow` is the number of consecutive
   * failures, including this one.
   */
  waitOrThrow(failure: TransferFailure, inARow: number): Promise<void>
  /**
   * Makes a call that is safe to repeat, and retries it until it succeeds. Rejects with the call's error if a retry
   * cannot help, if the timeout has passed, or if the server asks for a wait longer than the timeout. Success counts
   * as progress unless `isProgress` is false.
   */
  call<T>(act: () => Promise<T>, options?: { isProgress: boolean }): Promise<T>
  /** Ends all waits except those that the server requested. Call it when the network is back. */
  wake(): void
}

/**
 * Creates the retrier of one transfer.
 *
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
  const { maxWaitMs, timeoutMs, signal, report } = options
  const { movedBytes = () => 0, clock = waitingClock } = options
  let seen = movedBytes()
  let lastMoveAt = clock.now()
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
    lastMoveAt = clock.now()
    closings = 0
    if (!isReported || gateOpensAt > lastMoveAt) return
    isReported = false
    options.onMoving?.()
  }

  function closeGate(waitMs: number, reason: string, failure: TransferFailure) {
    const opensAt = clock.now() + waitMs
    const isNews = opensAt > gateOpensAt + 100
    if (opensAt > gateOpensAt) gateOpensAt = opensAt
    if (!isNews) return
    isReported = true
    report({ type: 'waiting', seconds: waitMs / 1000, reason }, failure)
  }

  async function pause(waitMs: number) {
    const { signal: wakes } = awake
    await sleep(waitMs, AbortSignal.any([signal, wakes]), clock).catch((error: unknown) => {
      signal.throwIfAborted()
      if (!wakes.aborted) throw error
    })
  }

  async function waitUntilOpen() {
    for (;;) {
      const waitMs = gateOpensAt - clock.now()
      if (waitMs <= 0) return
      await pause(waitMs)
    }
  }

  function hasTimedOut({ retryAfterSeconds = 0 }: TransferFailure): boolean {
    poll()
    return clock.now() - lastMoveAt > timeoutMs || retryAfterSeconds * 1000 > timeoutMs
  }

  async function waitFor(failure: TransferFailure, inARow: number) {
    const now = clock.now()
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
