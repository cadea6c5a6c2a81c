/**
 * Returns a function that converts the level of a heading in a text to its level on a page. This function must be
 * called for every heading, in order. The levels on the page begin at 3, because the page's own headings use 1 and 2.
 * The returned levels have no gaps, even if the author skips levels.
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
