import { type Part, RefusedError } from '../daemon/daemon-client.ts'

/** A queue that is as full after so many turns will not empty soon. */
const mostWaits = 6

type Order = {
  ask: () => AsyncIterable<Part>
  signal: AbortSignal
  /** Until when it waits now, as `Date.now()` counts; undefined once it asks again. */
  onWait: (until: number | undefined) => void
}

/** Asks again where the daemon says when. */
export async function* patiently({ ask, signal, onWait }: Order): AsyncGenerator<Part> {
  for (let waits = 0; ; waits += 1) {
    try {
      yield* ask()
      return
    } catch (error) {
      const seconds = error instanceof RefusedError ? error.retryAfterSeconds : undefined
      if (seconds === undefined || waits === mostWaits) throw error
      onWait(Date.now() + seconds * 1000)
      await sleep(seconds * 1000, signal)
      onWait(undefined)
    }
  }
}

async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const stop = () => {
    clearTimeout(timer)
    reject(signal.reason)
  }
  const timer = setTimeout(() => {
    signal.removeEventListener('abort', stop)
    resolve()
  }, ms)
  signal.addEventListener('abort', stop, { once: true })
  return promise
}
