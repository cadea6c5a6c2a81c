/** Parses and formats sizes in bytes. Units are decimal (1 kB is 1000 bytes), as disk manufacturers use them. */

/** One MiB in bytes. */
export const mebibyte = 1024 * 1024

const powers = ['', 'k', 'm', 'g', 't']

/**
 * Parses sizes such as `500G`, `10MB`, `1.5 gb`, `800k` or `1048576` into bytes. Returns undefined if the text is not a
 * valid size. `unit` applies to a number without a unit.
 */
export function parseSize(text: string, unit: 'B' | 'GB' = 'B'): number | undefined {
  const found = /^((?:\d+(?:\.\d*)?|\.\d+)(?:e\+?\d{1,2})?)\s*([kmgt]?)(b?)$/i.exec(text.trim())
  if (!found) return undefined
  const [, number, prefix = '', b] = found
  const bytesPerUnit =
    prefix === '' && b === '' && unit === 'GB' ? 1e9 : 1000 ** powers.indexOf(prefix.toLowerCase())
  const bytes = Math.round(Number(number) * bytesPerUnit)
  return Number.isFinite(bytes) ? bytes : undefined
}

/** Parses a speed, with or without `/s`, into bytes per second. */
export const parseSpeed = (text: string): number | undefined =>
  parseSize(text.trim().replace(/\s*\/s$/i, ''))

const byteUnits = ['KB', 'MB', 'GB', 'TB'] as const

/** Formats bytes with three significant digits: `6.60 GB`, `92.4 MB`, `705 MB`. */
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

/**
 * Formats an amount of memory less precisely than `formatBytes`, because such amounts are usually estimates: `8.1 GB`,
 * `130 MB`.
 */
export function formatMemory(bytes: number): string {
  if (bytes < 0.95e9) return `${Math.round(bytes / 10e6) * 10} MB`
  return `${(bytes / 1e9).toFixed(1)} GB`
}

/** Formats a machine's memory in binary units, as manufacturers advertise it: `16 GB` is 16 × 2^30 bytes. */
export function formatMachine(bytes: number): string {
  const gibibytes = bytes / 2 ** 30
  return `${gibibytes < 1 ? gibibytes.toFixed(1) : Math.round(gibibytes)} GB`
}
