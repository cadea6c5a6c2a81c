import { type Agent, get, type OutgoingHttpHeaders } from 'node:http'
import { digits, percentile } from './numbers.ts'

export type Timed = { path: string; ms: number }
export type Ask = (path: string) => Promise<Timed>

const timeoutMs = 60_000

export async function askAll(ask: Ask, paths: string[]): Promise<Timed[]> {
  const times: Timed[] = []
  for (const path of paths) times.push(await ask(path))
  return times
}

type GetOptions = { agent: Agent; headers?: OutgoingHttpHeaders }

/** Sends a GET request, and measures the time until the end of its response. Rejects if the status is not 200. */
export function timedGet(url: string, { agent, headers = {} }: GetOptions): Promise<Timed> {
  return new Promise((resolve, reject) => {
    const path = url.replace(/^https?:\/\/[^/]+/, '')
    const startedAt = performance.now()
    const request = get(url, { agent, headers, timeout: timeoutMs }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${path}: ${response.statusCode}`))
      response.resume()
      response.once('end', () => resolve({ path, ms: performance.now() - startedAt }))
    })
    request.once('error', reject)
    request.once('timeout', () =>
      request.destroy(new Error(`${path}: no response within ${timeoutMs / 1000} s`)),
    )
  })
}

/** Returns the slowest calls, slowest first. */
export const findSlowest = (times: Timed[], count: number): Timed[] =>
  times.toSorted((a, b) => b.ms - a.ms).slice(0, count)

/** Returns the cells of a table row: the name, the number of calls, and their p50, p95 and maximum. */
export function formatRow(name: string, times: Timed[]) {
  const ms = times.map((one) => one.ms)
  const at = (share: number) => digits(percentile(ms, share))
  return [name, times.length, at(0.5), at(0.95), at(1)]
}
