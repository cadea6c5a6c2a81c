/** Quantities as people read them. Memory and files are counted in powers of ten, as disks are. */
import { misuse } from './failure.ts'

const byteUnits = ['KB', 'MB', 'GB', 'TB'] as const

/** Three significant digits: `6.60 GB`, `92.4 MB`, `705 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${Math.round(bytes)} B`
  let value = bytes / 1000
  let unit = 0
  while (Number(value.toPrecision(3)) >= 1000 && unit < byteUnits.length - 1) {
    value /= 1000
    unit += 1
  }
  const decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0
  return `${value.toFixed(decimals)} ${byteUnits[unit]}`
}

/** Memory is never known to three digits: `8.1 GB`. */
export function formatMemory(bytes: number): string {
  return `${(bytes / 1e9).toFixed(1)} GB`
}

/** The size of a machine, as it is sold: `16 GB`. */
export function formatMachine(bytes: number): string {
  const gibibytes = bytes / 2 ** 30
  return `${gibibytes < 1 ? gibibytes.toFixed(1) : Math.round(gibibytes)} GB`
}

/** `414.8K`, `7B`, `5.2M`. */
export function formatCount(count: number): string {
  const units = ['', 'K', 'M', 'B', 'T']
  let value = count
  let unit = 0
  while (Number(value.toFixed(1)) >= 1000 && unit < units.length - 1) {
    value /= 1000
    unit += 1
  }
  const text = unit === 0 ? String(value) : value.toFixed(1).replace(/\.0$/, '')
  return text + units[unit]
}

/** Tokens, in the powers of two that models are made in: `128K`, `512`. */
export function formatContext(tokens: number): string {
  return tokens >= 1024 ? `${Math.round(tokens / 1024)}K` : String(tokens)
}

/** `23 s`, `4 min`, `1 h 20 min`. */
export function formatSeconds(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const rest = minutes % 60
  return `${Math.floor(minutes / 60)} h${rest > 0 ? ` ${rest} min` : ''}`
}

/** How long ago: `28 d ago`, `3 months ago`. */
export function formatAge(time: string | number | Date, now = Date.now()): string {
  const minutes = Math.floor((now - new Date(time).getTime()) / 60_000)
  if (minutes < 1) return 'just now'
  if (minutes < 60) return `${minutes} min ago`
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h ago`
  const days = Math.floor(minutes / (24 * 60))
  if (days < 60) return `${days} d ago`
  return days < 730 ? `${Math.floor(days / 30)} months ago` : `${Math.floor(days / 365)} years ago`
}

/** `1 file`, `3 files`. */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** The first few, and how many more there are: `a, b and 3 more`. */
export function shortList(names: readonly string[], most = 5): string {
  if (names.length <= most) return names.join(', ')
  return `${names.slice(0, most).join(', ')} and ${names.length - most} more`
}

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
