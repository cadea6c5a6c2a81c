import { parseKeepAlive } from '@shoal/core/units'
import { Fault } from '../errors.ts'

/**
 * Milliseconds out of seconds, or of a duration such as `5m`, `1h30m` or `forever`; -1 for what has no end, as negative times
 * have none. Undefined where nothing is said.
 */
export function toKeepAliveMs(keepAlive: string | number | null | undefined): number | undefined {
  if (keepAlive === undefined || keepAlive === null || keepAlive === '') return undefined
  const ms = parseKeepAlive(keepAlive)
  if (ms !== undefined) return Number.isFinite(ms) ? ms : -1
  throw new Fault(400, `keep_alive is seconds or a duration such as 5m, not "${keepAlive}"`, {
    param: 'keep_alive',
  })
}
