import { Fault } from '../errors.ts'

const msOfUnit: Record<string, number> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1e3,
  m: 60e3,
  h: 3_600e3,
}
/** A hundred years. */
const foreverMs = 100 * 365 * 24 * 3_600e3
const duration = /^([+-]?)((?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|ms|s|m|h))+$/
const part = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)/g

/**
 * Milliseconds out of seconds, or of a duration as Go writes it (`1h30m`, https://pkg.go.dev/time#ParseDuration); -1 for what is
 * negative, which means for ever. Undefined where nothing is said.
 */
export function keepAliveMsOf(keepAlive: string | number | null | undefined): number | undefined {
  if (keepAlive === undefined || keepAlive === null || keepAlive === '') return undefined
  const ms = typeof keepAlive === 'number' ? keepAlive * 1000 : msOf(keepAlive)
  return ms < 0 || ms > foreverMs ? -1 : ms
}

function msOf(text: string): number {
  if (/^[+-]?\d+(\.\d+)?$/.test(text)) return Number(text) * 1000
  const [, sign] = duration.exec(text) ?? []
  if (sign === undefined) {
    throw new Fault(400, `keep_alive is seconds or a duration such as 5m, not "${text}"`, {
      param: 'keep_alive',
    })
  }
  const ms = Array.from(text.matchAll(part), ([, count, unit = '']) => {
    return Number(count) * (msOfUnit[unit] ?? 0)
  })
  return ms.reduce((sum, one) => sum + one, 0) * (sign === '-' ? -1 : 1)
}
