import { type TroubleError, troubleOf } from './trouble.ts'

/** What the visitor is told while nothing moves. */
export type Wait = {
  /** In milliseconds since 1970. */
  until: number
  reason: string
}

export type Patience = ReturnType<typeof newPatience>

const shortestWaitMs = 500
const longestWaitMs = 30_000
/** While something moves, trouble with one chunk is nobody's business. */
const quietMs = 2000

/** How an upload puts up with trouble: it never gives up by itself, for whoever looks on can. */
export function newPatience(signal: AbortSignal, onWait: (wait: Wait | undefined) => void) {
  let opensAt = 0
  let lastMoveAt = Date.now()
  let isWaiting = false

  function tell(wait: Wait | undefined) {
    if (wait || isWaiting) onWait(wait)
    isWaiting = wait !== undefined
  }

  /** Waits until requests may go out. */
  async function gate() {
    while (opensAt > Date.now()) await sleep(opensAt - Date.now(), signal)
  }

  /** Something came through. */
  function noteMove() {
    lastMoveAt = Date.now()
    if (opensAt <= lastMoveAt) tell(undefined)
  }

  /** After trouble: waits as long as is right. `inARow` counts from 1. */
  async function endure({ message, retryAfterSeconds }: TroubleError, inARow: number) {
    if (retryAfterSeconds !== undefined) {
      opensAt = Math.max(opensAt, Date.now() + retryAfterSeconds * 1000)
      tell({ until: opensAt, reason: 'The registry asks us to wait' })
      return gate()
    }
    const milliseconds = backOff(inARow)
    const isOffline = navigator.onLine === false
    const isQuiet = isOffline || Date.now() - lastMoveAt > quietMs
    const reason = isOffline ? 'This machine is offline' : sentence(message)
    if (isQuiet) tell({ until: Date.now() + milliseconds, reason })
    return sleep(milliseconds, signal)
  }

  /** Calls until an answer comes. */
  async function persist<T>(call: () => Promise<T>): Promise<T> {
    for (let inARow = 1; ; inARow += 1) {
      await gate()
      try {
        const answer = await call()
        noteMove()
        return answer
      } catch (error) {
        signal.throwIfAborted()
        const trouble = troubleOf(error)
        if (!trouble) throw error
        await endure(trouble, inARow)
      }
    }
  }

  return { gate, noteMove, endure, persist }
}

function backOff(inARow: number): number {
  const milliseconds = Math.min(longestWaitMs, shortestWaitMs * 2 ** Math.min(inARow - 1, 10))
  return milliseconds * (0.5 + Math.random() / 2) // so that many pages do not come back at once
}

const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** Wakes early when the network comes back. */
export function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  const stop = new AbortController()
  return new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds)
    stop.signal.addEventListener('abort', () => clearTimeout(timer))
    signal.addEventListener('abort', () => reject(signal.reason), { signal: stop.signal })
    addEventListener('online', () => resolve(), { signal: stop.signal })
    if (signal.aborted) reject(signal.reason)
  }).finally(() => stop.abort())
}
