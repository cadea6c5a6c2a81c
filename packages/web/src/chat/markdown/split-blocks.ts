/** What is indented less may be beside the item above, and of another list. */
const minIndent = 2

/** A piece of Markdown that is parsed by itself. */
export type SourceBlock = {
  source: string
  /** Begins with the next item of the list that the chunk before ends with. */
  isNextItem: boolean
}

/**
 * Cuts Markdown where nothing before can change any more: at blank lines and between items of a list, except inside fences and
 * before what is indented. While an answer comes in, only its last chunk has to be parsed again. If in doubt, nothing is cut.
 */
export function splitBlocks(source: string): SourceBlock[] {
  const chunks: SourceBlock[] = []
  let lines: string[] = []
  let isNextItem = false
  let fence: Fence | undefined
  let hasItem = false
  /** Of the items, as long as the chunk has nothing else at the start of a line. */
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

/** Of an item at the start of a line: `-`, `*`, `+`, `.` or `)`. A rule is none. */
function parseListMark(line: string): string | undefined {
  if (/^([-*])[ \t]*(\1[ \t]*){2,}$/.test(line)) return undefined
  const item = /^(?:([-*+])|\d{1,9}([.)]))(?:[ \t]|$)/.exec(line)
  return item?.[1] ?? item?.[2]
}

type Fence = { indent: string; marks: string }

/**
 * The fence that is open after this line, if any. In a list a line that closes it is indented as the opening was; indented
 * otherwise it may open another.
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
