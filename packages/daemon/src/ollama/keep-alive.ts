import { parseKeepAlive } from '@shoal/core/units'
import { Fault } from '../errors.ts'

/**
 * Parses seconds, or a duration such as `5m`, `1h30m` or `forever`, into milliseconds; -1 for no end, as for negative
 * values. Undefined if not given.
 */
export function toKeepAliveMs(keepAlive: string | number | null | undefined): number | undefined {
  if (keepAlive === undefined || keepAlive === null || keepAlive === '') return undefined
  const ms = parseKeepAlive(keepAlive)
  if (ms !== undefined) return Number.isFinite(ms) ? ms : -1
  throw new Fault(400, `keep_alive must be seconds or a duration such as 5m, not "${keepAlive}"`, {
    param: 'keep_alive',
  })
}
