import { setTimeout } from 'node:timers/promises'

/** Rejects with the signal's own reason. */
export async function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  await setTimeout(milliseconds, undefined, signal && { signal }).catch((error) => {
    throw signal?.aborted ? signal.reason : error
  })
}
