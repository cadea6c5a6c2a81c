/** Maximum nesting depth of lists and quotes. */
const deepestBlocks = 50
/** Maximum number of unclosed brackets in a paragraph. */
const maxOpenBrackets = 1_000

const blocksInLine = new RegExp(
  `^[ \\t]*(?:(?:[-+*]|\\d{1,9}[.)])(?=[ \\t])[ \\t]*|>[ \\t]*){${deepestBlocks}}`,
  'm',
)
/** Each list level is indented by at least two columns. */
const blocksByIndent = new RegExp(
  `^[ \\t]{${2 * deepestBlocks},}(?:[-+*>]|\\d{1,9}[.)])(?:[ \\t]|$)`,
  'm',
)

/**
 * Whether the Markdown is too deeply nested to parse. No real model card or chat response exceeds these limits. The
 * parsing time is proportional to the square of the depth: 0.3 s for 2 kB of `- `, and 3.6 s for 8 kB.
 */
export function isTooNested(markdown: string): boolean {
  return blocksInLine.test(markdown) || blocksByIndent.test(markdown) || hasOpenBrackets(markdown)
}

function hasOpenBrackets(markdown: string): boolean {
  let open = 0
  for (const [found] of markdown.matchAll(/[[\]]|\n[ \t]*\n/g)) {
    if (found === '[') open += 1
    else if (found === ']') open = Math.max(0, open - 1)
    else open = 0 // the paragraph ends
    if (open > maxOpenBrackets) return true
  }
  return false
}
