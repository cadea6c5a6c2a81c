/** Quantities as people type them; as they read them, they are the protocol's. */
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
} from '@shoal/protocol/words'

/** Bytes out of `10MB`, `1.5 GB`, `800k` or `1048576`. */
export function parseBytes(text: string): number {
  const found = /^\s*(\d+(?:\.\d+)?)\s*([kmgt]?)b?(?:\/s)?\s*$/i.exec(text)
  const power = ['', 'k', 'm', 'g', 't'].indexOf((found?.[2] ?? '').toLowerCase())
  const bytes = Math.round(Number(found?.[1]) * 1000 ** power)
  if (!found || bytes < 1) throw misuse(`“${text}” is not a size. One looks like 10MB.`)
  return bytes
}

/** How many times its size a file is given: `2`, `0.5`. */
export function parseRatio(text: string): number {
  const value = Number(text)
  if (/^\d+(\.\d+)?$/.test(text) && value > 0) return value
  throw misuse(`“${text}” is not a ratio such as 2 or 0.5.`)
}

/** A whole number from `minimum` to `maximum`, for an option that takes one. */
export function wholeNumber(minimum: number, maximum: number) {
  return (text: string): number => {
    const value = Number(text)
    if (/^\d+$/.test(text) && value >= minimum && value <= maximum) return value
    throw misuse(`“${text}” is not a whole number from ${minimum} to ${maximum}.`)
  }
}

/** A number from `minimum` to `maximum`, for an option that takes one. */
export function decimalNumber(minimum: number, maximum: number) {
  return (text: string): number => {
    const value = Number(text)
    if (/^\d*\.?\d+$/.test(text) && value >= minimum && value <= maximum) return value
    throw misuse(`“${text}” is not a number from ${minimum} to ${maximum}.`)
  }
}

const secondsOf = { h: 3600, d: 86_400, w: 7 * 86_400, y: 365 * 86_400 }

/** Seconds out of `12h`, `90d`, `2w` or `1y`; undefined for `never`. */
export function parseDuration(text: string): number | undefined {
  if (text === 'never') return undefined
  const found = /^([1-9]\d{0,4})([hdwy])$/.exec(text)
  if (!found) throw misuse(`“${text}” is not a time such as 12h, 90d, 2w or 1y, or never.`)
  return Number(found[1]) * secondsOf[found[2] as keyof typeof secondsOf]
}

/** How long a model stays, as the daemon takes it: `5m`, `1h30m`, seconds, or -1 for `forever`. */
export function parseKeepTime(text: string): string | number {
  if (text === 'forever') return -1
  if (/^(\d+|(\d+(\.\d+)?(s|m|h))+)$/.test(text)) return text
  throw misuse(`“${text}” is not a time such as 5m, 2h or forever.`)
}
