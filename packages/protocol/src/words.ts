/** Quantities as people read them, in the terminal and on pages. Memory and files are counted in powers of ten, as disks are. */

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

/** Memory is never known to three digits: `8.1 GB`, `130 MB`. */
export function formatMemory(bytes: number): string {
  if (bytes < 0.95e9) return `${Math.round(bytes / 10e6) * 10} MB`
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

/** How long ago: `28 days ago`, `3 months ago`. */
export function formatAge(time: string | number | Date, now = Date.now()): string {
  const minutes = Math.floor((now - new Date(time).getTime()) / 60_000)
  if (minutes < 1) return 'just now'
  if (minutes < 60) return `${minutes} min ago`
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h ago`
  const days = Math.floor(minutes / (24 * 60))
  if (days < 60) return `${plural(days, 'day')} ago`
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
