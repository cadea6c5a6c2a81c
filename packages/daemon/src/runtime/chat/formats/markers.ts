export type Markers = {
  all: readonly string[]
  /** Matches the first marker. If several begin at the same position, matches the longest. */
  pattern: RegExp
}

export function markers(...all: readonly string[]): Markers {
  const known = all.filter((marker) => marker !== '').sort((a, b) => b.length - a.length)
  const alternatives = known.map((marker) => marker.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
  return { all: known, pattern: new RegExp(alternatives.join('|') || '(?!)') }
}

/** The number of characters at the end of `text` that may be the beginning of an incomplete marker. */
export function partialLength(text: string, all: readonly string[]): number {
  const longest = Math.max(0, ...all.map((marker) => marker.length - 1))
  for (let length = Math.min(longest, text.length); length > 0; length -= 1) {
    const end = text.slice(text.length - length)
    if (all.some((marker) => marker.length > length && marker.startsWith(end))) return length
  }
  return 0
}
