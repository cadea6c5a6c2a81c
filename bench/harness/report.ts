import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

export type Cell = string | number
export type Report = ReturnType<typeof reportTo>

/** Prints each block of Markdown immediately, and writes all blocks to a file. */
export function reportTo(path: string) {
  mkdirSync(dirname(path), { recursive: true })
  let text = ''

  function write(block: string) {
    text += `${block}\n\n`
    process.stdout.write(`${block}\n\n`)
    writeFileSync(path, text)
  }

  return {
    title: (title: string) => write(`## ${title}`),
    say: (paragraph: string) => write(paragraph),
    table: (head: string[], rows: Cell[][]) => write(markdownTable(head, rows)),
  }
}

/** Prints a line of progress to stderr, because it is not part of the results. */
export function note(line: string) {
  process.stderr.write(`· ${line}\n`)
}

/** Formats a Markdown table. Columns of numbers are right-aligned. */
function markdownTable(head: string[], rows: Cell[][]): string {
  const texts = [head, ...rows].map((row) => row.map(String))
  const isNumeric = head.map((_, at) => rows.every((row) => /^[-–\d]/.test(String(row[at]))))
  const widths = head.map((_, at) => Math.max(3, ...texts.map((row) => row[at]?.length ?? 0)))
  const line = (row: string[]) =>
    `| ${row.map((cell, at) => (isNumeric[at] ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0))).join(' | ')} |`
  const rule = widths.map((width, at) => '-'.repeat(width - 1) + (isNumeric[at] ? ':' : '-'))
  const [first = [], ...others] = texts
  return [line(first), `| ${rule.join(' | ')} |`, ...others.map(line)].join('\n')
}
