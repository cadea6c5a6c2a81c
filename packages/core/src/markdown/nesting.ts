/** Lists and quotations within one another. */
const deepestBlocks = 50
/** Brackets that are open at once in a paragraph. */
const maxOpenBrackets = 1_000

const blocksInLine = new RegExp(
  `^[ \\t]*(?:(?:[-+*]|\\d{1,9}[.)])(?=[ \\t])[ \\t]*|>[ \\t]*){${deepestBlocks}}`,
  'm',
)
/** A level of a list takes two columns at least. */
const blocksByIndent = new RegExp(
  `^[ \\t]{${2 * deepestBlocks},}(?:[-+*>]|\\d{1,9}[.)])(?:[ \\t]|$)`,
  'm',
)

/**
 * Whether the text nests deeper than any card needs. The parser's time grows with the square of the depth: 2 kB of `- ` take
 * it 0.3 s, 8 kB 3.6 s.
 */
export function isTooNested(markdown: string): boolean {
  return blocksInLine.test(markdown) || blocksByIndent.test(markdown) || hasOpenBrackets(markdown)
}

function hasOpenBrackets(markdown: string): boolean {
  let open = 0
  for (const [found] of markdown.matchAll(/[[\]]|\n[ \t]*\n/g)) {
    if (found === '[') open += 1
    else if (found === ']') open = Math.max(0, open - 1)
    else open = 0 // a paragraph ends
    if (open > maxOpenBrackets) return true
  }
  return false
}
