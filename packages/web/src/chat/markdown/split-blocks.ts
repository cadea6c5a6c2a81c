/**
 * Minimum indentation of a nested item. With less indentation, an item may belong to a different list than the item
 * above it.
 */
const minIndent = 2

/** A chunk: a part of the Markdown source that is parsed separately. */
export type SourceBlock = {
  source: string
  /** Whether the chunk begins with the next item of the list at the end of the previous chunk. */
  isNextItem: boolean
}

/**
 * Splits Markdown into chunks, so that only the last chunk must be parsed again while an answer is being received. The
 * text is split only where later text cannot change the meaning of earlier text: at blank lines and between list items,
 * but not in fenced code or before indented lines. In case of doubt, the text is not split.
 */
export function splitBlocks(source: string): SourceBlock[] {
  const chunks: SourceBlock[] = []
  let lines: string[] = []
  let isNextItem = false
  let fence: Fence | undefined
  let hasItem = false
  /** The marker of the chunk's list items if all its unindented lines are list items; otherwise undefined. */
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

/**
 * Returns the marker of an unindented list item: `-`, `*`, `+`, `.` or `)`. Returns undefined for other lines, such as
 * horizontal rules.
 */
function parseListMark(line: string): string | undefined {
  if (/^([-*])[ \t]*(\1[ \t]*){2,}$/.test(line)) return undefined
  const item = /^(?:([-*+])|\d{1,9}([.)]))(?:[ \t]|$)/.exec(line)
  return item?.[1] ?? item?.[2]
}

type Fence = { indent: string; marks: string }

/**
 * Returns the code fence that is open after this line, if any. In a list, only a line with the same indentation as the
 * opening line closes the fence, because a line with a different indentation may open another fence.
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
