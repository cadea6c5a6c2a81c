import { setTimeout as sleep } from 'node:timers/promises'

const timeoutMs = 30_000

/** Asks with HEAD, again and again, until there is an answer that is no error. Answers after how many milliseconds. */
export async function untilAnswered(url: string): Promise<number> {
  const startedAt = performance.now()
  for (;;) {
    const response = await fetch(url, { method: 'HEAD' }).catch(() => undefined) // not there yet
    const ms = performance.now() - startedAt
    if (response?.ok) return ms
    if (ms > timeoutMs) throw new Error(`${url} does not answer`)
    await sleep(5)
  }
}
