import { sleep } from '@shoal/core/async'
import { type AnswerEnd, type AnswerPart, DaemonError } from '@shoal/protocol/inference-client'

/** Maximum number of retries. After this many, the queue is unlikely to have room soon. */
const maxWaits = 6

type Order = {
  ask: () => AsyncIterable<AnswerPart | AnswerEnd>
  signal: AbortSignal
  /**
   * Called before each wait with the time of the retry in milliseconds since 1970, and with undefined after the wait.
   */
  onWait: (until: number | undefined) => void
}

/** Sends a request. If the daemon rejects it and specifies a delay, retries the request after that delay. */
export async function* patiently({
  ask,
  signal,
  onWait,
}: Order): AsyncGenerator<AnswerPart | AnswerEnd> {
  for (let waits = 0; ; waits += 1) {
    try {
      yield* ask()
      return
    } catch (error) {
      const seconds = error instanceof DaemonError ? error.details.retryAfterSeconds : undefined
      if (seconds === undefined || waits === maxWaits) throw error
      onWait(Date.now() + seconds * 1000)
      await sleep(seconds * 1000, signal)
      onWait(undefined)
    }
  }
}
