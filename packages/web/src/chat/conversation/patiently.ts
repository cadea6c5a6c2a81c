import { sleep } from '@shoal/core/async'
import { type AnswerEnd, type AnswerPart, DaemonError } from '@shoal/protocol/inference-client'

/** After this many waits, the queue is unlikely to empty soon. */
const maxWaits = 6

type Order = {
  ask: () => AsyncIterable<AnswerPart | AnswerEnd>
  signal: AbortSignal
  /** Called with the end of a wait, as `Date.now()`, and with undefined when the request is retried. */
  onWait: (until: number | undefined) => void
}

/** Retries when the daemon says when to retry. */
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
