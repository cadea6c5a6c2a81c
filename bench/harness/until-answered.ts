import { setTimeout as sleep } from 'node:timers/promises'

const timeoutMs = 30_000

/** Repeats a HEAD request until it succeeds. Returns how many milliseconds that took. */
export async function untilAnswered(url: string): Promise<number> {
  const startedAt = performance.now()
  for (;;) {
    const response = await fetch(url, { method: 'HEAD' }).catch(() => undefined) // not listening yet
    const ms = performance.now() - startedAt
    if (response?.ok) return ms
    if (ms > timeoutMs)
      throw new Error(`${url} did not respond successfully within ${timeoutMs / 1000} s`)
    await sleep(5)
  }
}
