import { parseKeepAlive } from '@shoal/core/units'
import { Fault } from '../errors.ts'

/**
 * Parses a number of seconds, or a duration such as `5m`, `1h30m` or `forever`, into milliseconds. Returns -1 for
 * `forever` and for negative values, and undefined if there is no value.
 */
export function toKeepAliveMs(keepAlive: string | number | null | undefined): number | undefined {
  if (keepAlive === undefined || keepAlive === null || keepAlive === '') return undefined
  const ms = parseKeepAlive(keepAlive)
  if (ms !== undefined) return Number.isFinite(ms) ? ms : -1
  throw new Fault(
    400,
    `keep_alive must be a number of seconds or a duration such as 5m, not "${keepAlive}"`,
    { param: 'keep_alive' },
  )
}
