export function median(values: number[]): number {
  return percentile(values, 0.5)
}

/** Returns the percentile at `share` (0.95 for p95), with linear interpolation between two values. */
export function percentile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const place = (sorted.length - 1) * share
  const below = sorted[Math.floor(place)] ?? Number.NaN
  const above = sorted[Math.ceil(place)] ?? Number.NaN
  return below + (above - below) * (place - Math.floor(place))
}

/** Formats a number with three significant digits. Returns an en dash if there is no measurement. */
export function digits(value: number | undefined): string {
  if (value === undefined || Number.isNaN(value)) return '–'
  if (value >= 100) return Math.round(value).toLocaleString('en')
  return String(Number(value.toPrecision(3)))
}

export function megabytes(bytes: number | undefined): string {
  return bytes === undefined ? '–' : String(Math.round(bytes / 1e6))
}
