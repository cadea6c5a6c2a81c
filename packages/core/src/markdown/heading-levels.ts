/**
 * Returns a function that converts the level of each heading of a text, in order, to its level in a page. The levels
 * begin with 3, because the page's own headings use 1 and 2, and no level is skipped, whatever levels the author uses.
 */
export function pageHeadingLevels(): (level: number) => number {
  /** The levels that the author gave the enclosing headings. */
  const enclosing: number[] = []
  return (level) => {
    while ((enclosing.at(-1) ?? 0) >= level) enclosing.pop()
    enclosing.push(level)
    return Math.min(enclosing.length + 2, 6)
  }
}
