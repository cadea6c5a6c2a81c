import type { Part } from '../daemon/daemon-client.ts'
import type { Ending } from './conversation.ts'

type Order = {
  parts: AsyncIterable<Part>
  take: (part: Part) => void
  signal: AbortSignal
}

/** Takes an answer in until it ends, for whatever reason. */
export async function takeAnswer({ parts, take, signal }: Order): Promise<{
  ending: Ending
  error?: unknown
}> {
  let ending: Ending = 'whole'
  try {
    for await (const part of parts) {
      if ('finish' in part && part.finish === 'length') ending = 'cut'
      take(part)
    }
    return { ending }
  } catch (error) {
    return signal.aborted ? { ending: 'stopped' } : { ending: 'failed', error }
  }
}
