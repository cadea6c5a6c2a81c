/** Formats a count: `414.8K`, `7B`, `5.2M`. */
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

/** Formats a number of tokens in units of 1024, as context lengths are usually given: `128K`, `512`. */
export function formatContext(tokens: number): string {
  return tokens >= 1024 ? `${Math.round(tokens / 1024)}K` : String(tokens)
}

/** Formats a number with its noun: `1 file`, `3 files`; with `formatCount`, `2.5K files`. */
export function plural(count: number, noun: string, format: (count: number) => string = String) {
  return `${format(count)} ${noun}${count === 1 ? '' : 's'}`
}

/** Lists the first few names and the number of others: `a, b and 3 more`. */
export function shortList(names: readonly string[], most = 5): string {
  if (names.length <= most) return names.join(', ')
  return `${names.slice(0, most).join(', ')} and ${names.length - most} more`
}
