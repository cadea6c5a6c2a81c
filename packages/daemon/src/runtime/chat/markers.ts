/** The number of characters at the end of `text` that may be the beginning of one of the markers. */
export function partialLength(text: string, markers: readonly string[]): number {
  const longest = Math.max(0, ...markers.map((marker) => marker.length - 1))
  for (let length = Math.min(longest, text.length); length > 0; length -= 1) {
    const end = text.slice(text.length - length)
    if (markers.some((marker) => marker.startsWith(end))) return length
  }
  return 0
}
