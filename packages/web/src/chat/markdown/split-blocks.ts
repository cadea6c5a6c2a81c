/** With less indentation, an item may belong to another list than the item above. */
const minIndent = 2

/** A part of Markdown that is parsed separately. */
export type SourceBlock = {
  source: string
  /** It begins with the next item of the list at the end of the previous chunk. */
  isNextItem: boolean
}

/**
 * Splits Markdown where later text cannot change the part before: at blank lines and between list items, except in fenced code and
 * before indented lines. While an answer is received, only its last chunk must be parsed again. If in doubt, it does not split.
 */
export function splitBlocks(source: string): SourceBlock[] {
  const chunks: SourceBlock[] = []
  let lines: string[] = []
  let isNextItem = false
  let fence: Fence | undefined
  let hasItem = false
  /** The marker of the list items, if all unindented lines of the chunk are items. */
  let listMark: string | undefined
  let isAfterBlank = false

  const end = (ending: string) => {
    if (lines.every(isBlank)) return
    chunks.push({ source: lines.join('\n') + ending, isNextItem })
  }
  const cut = (isBeforeItem: boolean) => {
    end('\n')
    lines = []
    isNextItem = isBeforeItem
    hasItem = false
    listMark = undefined
  }

  for (const line of source.replace(/\r\n?/g, '\n').split('\n')) {
    const mark = parseListMark(line)
    const indent = /^( {1,3})([-*+]|\d{1,9}[.)])([ \t]|$)/.exec(line)?.[1]?.length
    const isItem = mark !== undefined || indent !== undefined
    const isInside = isBlank(line) || /^[ \t]/.test(line)
    if (fence === undefined) {
      if (mark !== undefined && mark === listMark) cut(true)
      else if (isAfterBlank && !isInside && !(hasItem && isItem)) cut(false)
      if (lines.length === 0) listMark = mark
      else if (!isInside || (indent ?? 3) < minIndent) listMark = undefined
      hasItem ||= isItem
    }
    fence = fenceAfter(line, fence, hasItem)
    isAfterBlank = isBlank(line)
    lines.push(line)
  }
  end('')
  return chunks
}

const isBlank = (line: string) => /^[ \t]*$/.test(line)

/** The marker of an unindented list item: `-`, `*`, `+`, `.` or `)`. Undefined for horizontal rules. */
function parseListMark(line: string): string | undefined {
  if (/^([-*])[ \t]*(\1[ \t]*){2,}$/.test(line)) return undefined
  const item = /^(?:([-*+])|\d{1,9}([.)]))(?:[ \t]|$)/.exec(line)
  return item?.[1] ?? item?.[2]
}

type Fence = { indent: string; marks: string }

/**
 * Returns the code fence that is open after this line, if any. In a list, a closing line has the same indentation as the opening
 * line; with a different indentation it may open another fence.
 */
function fenceAfter(line: string, open: Fence | undefined, isInList: boolean): Fence | undefined {
  const found = /^([ \t]*)(`{3,}|~{3,})(.*)$/.exec(line)
  if (!found) return open
  const [, indent = '', marks = '', rest = ''] = found
  if (!open) return marks.startsWith('`') && rest.includes('`') ? undefined : { indent, marks }
  const isSameIndent =
    indent === open.indent || (!isInList && /^ {0,3}$/.test(indent) && /^ {0,3}$/.test(open.indent))
  const isClosing =
    isSameIndent && marks[0] === open.marks[0] && marks.length >= open.marks.length && isBlank(rest)
  return isClosing ? undefined : open
}
