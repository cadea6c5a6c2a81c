/** Parses quantities that users type. The errors contain examples. */
import { parseDuration, parseKeepAlive, parseSpeed } from '@shoal/core/units'
import { misuse } from './failure.ts'

export {
  formatAge,
  formatBytes,
  formatContext,
  formatCount,
  formatMachine,
  formatMemory,
  formatSeconds,
  plural,
  shortList,
} from '@shoal/core/units'

/** Formats an RFC 3339 time to the minute, such as `2026-01-31 12:00`. For a missing time, returns an en dash. */
export const toMinute = (time: string | null): string => time?.slice(0, 16).replace('T', ' ') ?? '–'

/** Parses bytes per second: `10MB`, `1.5 GB/s` or `1048576`. */
export function parseByteRate(text: string): number {
  const bytes = parseSpeed(text) ?? 0
  if (bytes < 1) throw misuse(`“${text}” is not a valid speed. Example: 10MB.`)
  return bytes
}

/** Parses a share ratio, a multiple of a file's size: `2`, `0.5`. */
export function parseRatio(text: string): number {
  const value = Number(text)
  if (/^\d+(\.\d+)?$/.test(text) && value > 0) return value
  throw misuse(`“${text}” is not a valid ratio. Examples: 2, 0.5.`)
}

/** Creates a parser for whole numbers from `minimum` to `maximum`. */
export function wholeNumberParser(minimum: number, maximum: number) {
  return (text: string): number => {
    const value = Number(text)
    if (/^\d+$/.test(text) && value >= minimum && value <= maximum) return value
    throw misuse(`“${text}” is not a whole number from ${minimum} to ${maximum}.`)
  }
}

/** Creates a parser for numbers from `minimum` to `maximum`. */
export function decimalNumber(minimum: number, maximum: number) {
  return (text: string): number => {
    const value = Number(text)
    if (/^\d*\.?\d+$/.test(text) && value >= minimum && value <= maximum) return value
    throw misuse(`“${text}” is not a number from ${minimum} to ${maximum}.`)
  }
}

/**
 * Parses a lifetime such as `12h` or `1y`, from 1 second to 100 years. Returns seconds, or undefined for `never` and
 * `forever`.
 */
export function parseLifetime(text: string): number | undefined {
  if (/^(never|forever)$/.test(text.trim())) return undefined
  const ms = parseDuration(text) ?? 0
  if (ms < 1_000)
    throw misuse(
      `“${text}” is not a valid lifetime. Use a duration such as 12h, 90d or 1y, or “never”.`,
    )
  if (Number.isFinite(ms)) return ms / 1_000
  throw misuse(`“${text}” is more than 100 years. For a key that does not expire, use “never”.`)
}

/** Converts a keep-alive time to the daemon's format: a duration such as `5m`, or -1 for no limit. */
export function parseKeepTime(text: string): string | number {
  const ms = parseKeepAlive(text)
  if (ms === undefined)
    throw misuse(
      `“${text}” is not a valid keep-alive time. Use a duration such as 5m or 2h, or “forever”.`,
    )
  return Number.isFinite(ms) ? text : -1
}
