import { setTimeout as sleep } from 'node:timers/promises'

const maxMs = 60_000

/** Polls until `isSo` resolves to true. Rejects after a minute. */
export async function until(isSo: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + maxMs
  while (!(await isSo())) {
    if (performance.now() > end)
      throw new Error(`timed out after ${maxMs} ms waiting until ${isSo}`)
    await sleep(5)
  }
}
