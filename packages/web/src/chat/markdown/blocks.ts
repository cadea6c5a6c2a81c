export type Align = 'left' | 'center' | 'right'

/** The blocks of Markdown that models write. What is not known stays text. */
export type Block =
  | { kind: 'paragraph'; text: string }
  | { kind: 'heading'; level: number; text: string }
  | { kind: 'code'; language: string; text: string }
  | { kind: 'quote'; blocks: Block[] }
  | { kind: 'list'; start: number | undefined; items: Block[][] }
  | { kind: 'table'; head: string[]; aligns: Align[]; rows: string[][] }
  | { kind: 'rule' }

/** Deeper than this is text: a line of a thousand `>` is no thousand quotes. */
const deepest = 8

export function blocksOf(source: string, depth = 0): Block[] {
  const lines = source.split('\n')
  const blocks: Block[] = []
  let at = 0
  while (at < lines.length) {
    const found = depth < deepest ? blockAt(lines, at, depth) : undefined
    if (found) {
      blocks.push(found.block)
      at = found.end
    } else if (lines[at]?.trim() === '') {
      at += 1
    } else {
      const end = endOfParagraph(lines, at, depth)
      const text = lines.slice(at, end).join('\n').trim()
      blocks.push({ kind: 'paragraph', text })
      at = end
    }
  }
  return blocks
}

/** Of the first such line, or of the end. */
function indexFrom(lines: readonly string[], from: number, isSuch: (line: string) => boolean) {
  let index = from
  while (index < lines.length && !isSuch(lines[index] ?? '')) index += 1
  return index
}

type Found = { block: Block; end: number } | undefined
type Finder = (lines: readonly string[], at: number, depth: number) => Found

const blockAt: Finder = (lines, at, depth) => {
  for (const find of [codeAt, headingAt, ruleAt, quoteAt, listAt, tableAt]) {
    const found = find(lines, at, depth)
    if (found) return found
  }
  return undefined
}

function endOfParagraph(lines: readonly string[], start: number, depth: number): number {
  let end = start + 1
  while (end < lines.length && lines[end]?.trim() !== '') {
    if (depth < deepest && interrupts(lines, end, depth)) break
    end += 1
  }
  return end
}

/** A number in a sentence that happens to begin a line starts no list, unless it is 1. */
function interrupts(lines: readonly string[], at: number, depth: number): boolean {
  const number = /^ {0,3}(\d{1,9})[.)]\s/.exec(lines[at] ?? '')?.[1]
  if (number !== undefined && Number(number) !== 1) return false
  return blockAt(lines, at, depth) !== undefined
}

const codeAt: Finder = (lines, at) => {
  const opening = /^( {0,3})(`{3,}|~{3,})\s*([^\s`]*)[^`]*$/.exec(lines[at] ?? '')
  if (!opening) return undefined
  const [, indent = '', fence = '', language = ''] = opening
  const isClosing = (line: string) => {
    const text = line.trim()
    return text.length >= fence.length && text === fence.charAt(0).repeat(text.length)
  }
  const end = indexFrom(lines, at + 1, isClosing)
  const text = lines
    .slice(at + 1, end)
    .map((line) => outdented(line, indent.length))
    .join('\n')
  return { block: { kind: 'code', language, text }, end: end + 1 }
}

const headingAt: Finder = (lines, at) => {
  const heading = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/.exec(lines[at] ?? '')
  if (!heading) return undefined
  const [, marks = '', text = ''] = heading
  return { block: { kind: 'heading', level: marks.length, text }, end: at + 1 }
}

const ruleAt: Finder = (lines, at) => {
  if (!/^ {0,3}([-*_])[ \t]*(\1[ \t]*){2,}$/.test(lines[at] ?? '')) return undefined
  return { block: { kind: 'rule' }, end: at + 1 }
}

const quoteAt: Finder = (lines, at, depth) => {
  const isQuoted = (line: string) => /^ {0,3}>/.test(line)
  if (!isQuoted(lines[at] ?? '')) return undefined
  const end = indexFrom(lines, at + 1, (line) => !isQuoted(line))
  const text = lines
    .slice(at, end)
    .map((line) => line.replace(/^ {0,3}> ?/, ''))
    .join('\n')
  return { block: { kind: 'quote', blocks: blocksOf(text, depth + 1) }, end }
}

const itemMark = /^( {0,3})(?:([-*+])|(\d{1,9})[.)])(?:( +)|$)/

/** Items of one kind; what is indented under an item is part of it. */
const listAt: Finder = (lines, at, depth) => {
  const first = itemMark.exec(lines[at] ?? '')
  if (!first) return undefined
  const isSameKind = (line: string) => {
    const mark = itemMark.exec(line)
    return mark && !ruleAt([line], 0, 0) && (mark[2] === undefined) === (first[2] === undefined)
  }
  const items: string[][] = []
  let end = at
  for (; end < lines.length; end += 1) {
    const line = lines[end] ?? ''
    if (isSameKind(line)) items.push([line.replace(itemMark, '')])
    else if (line.trim() === '') {
      if (!goesOnAfterBlank(lines, end + 1, isSameKind)) break
      items.at(-1)?.push('')
    } else if (/^(\s{2,}|\t)/.test(line)) items.at(-1)?.push(outdented(line, indentOf(first)))
    else if (lines[end - 1]?.trim() !== '' && !interrupts(lines, end, depth))
      items.at(-1)?.push(line)
    else break
  }
  const start = first[3] === undefined ? undefined : Number(first[3])
  const blocks = items.map((item) => blocksOf(item.join('\n'), depth + 1))
  return { block: { kind: 'list', start, items: blocks }, end }
}

const indentOf = (mark: RegExpExecArray) => Math.min(mark[0].length, 4)

function goesOnAfterBlank(
  lines: readonly string[],
  at: number,
  isSameKind: (line: string) => unknown,
): boolean {
  const next = lines[indexFrom(lines, at, (line) => line.trim() !== '')]
  return next !== undefined && (Boolean(isSameKind(next)) || /^(\s{2,}|\t)/.test(next))
}

const outdented = (line: string, width: number) =>
  line.replace(new RegExp(`^(?:\\t| {0,${width}})`), '')

const tableAt: Finder = (lines, at) => {
  const [head = '', divider = ''] = lines.slice(at, at + 2)
  const isTable =
    head.includes('|') && /^\s*\|?(\s*:?-+:?\s*\|)+(\s*:?-+:?\s*)?$/.test(divider.slice(0, 1000))
  if (!isTable || cellsOf(head).length !== cellsOf(divider).length) return undefined
  const end = indexFrom(lines, at + 2, (line) => !line.includes('|'))
  const rows = lines.slice(at + 2, end).map(cellsOf)
  const aligns = cellsOf(divider).map(alignOf)
  return { block: { kind: 'table', head: cellsOf(head), aligns, rows }, end }
}

/** Of `:--`, `:-:` or `--:`. */
function alignOf(dashes: string): Align {
  if (!dashes.endsWith(':')) return 'left'
  return dashes.startsWith(':') ? 'center' : 'right'
}

const cellsOf = (line: string) =>
  line
    .trim()
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'))
