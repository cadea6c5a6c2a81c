import { toTerminalLine } from './terminal-text.ts'

export type Column<Row> = {
  title: string
  text: (row: Row) => string
  align?: 'right'
  /** Whether the column may be omitted if the terminal is too narrow. The rightmost such column is omitted first. */
  isOptional?: boolean
  /** Colors the text. Called after the column widths have been measured. */
  paint?: (text: string, row: Row) => string
}

type Layout = {
  columns?: number | undefined
  paintTitle?: (text: string) => string
}

const gap = '  '

/** The lines of a table, without trailing whitespace. Each cell is put on one line, without control characters. */
export async function table<Row>(
  givenColumns: readonly Column<Row>[],
  rows: readonly Row[],
  { columns: width = Number.POSITIVE_INFINITY, paintTitle = (text) => text }: Layout = {},
): Promise<string[]> {
  const allColumns = givenColumns.map((column) => ({
    ...column,
    text: (row: Row) => toTerminalLine(column.text(row)),
  }))
  const texts = rows.flatMap((row) => allColumns.map(({ text }) => text(row)))
  const measure = await measureFor(texts)
  const columns = fitting(allColumns, rows, { width, measure })
  const widths = columns.map((column) => measureWidth(column, rows, measure))
  const line = (cells: { text: string; paint: (text: string) => string }[]) =>
    cells
      .map(({ text, paint }, index) => {
        const padding = ' '.repeat(Math.max(0, (widths[index] ?? 0) - measure(text)))
        const isRight = columns[index]?.align === 'right'
        const isLast = index === cells.length - 1
        return isRight ? padding + paint(text) : paint(text) + (isLast ? '' : padding)
      })
      .join(gap)
      .trimEnd()
  return [
    line(columns.map(({ title }) => ({ text: title, paint: paintTitle }))),
    ...rows.map((row) =>
      line(
        columns.map(({ text, paint }) => ({
          text: text(row),
          paint: (cell) => (paint ? paint(cell, row) : cell),
        })),
      ),
    ),
  ]
}

type Measure = (text: string) => number

/** Matches text whose characters are all one column wide. */
const narrow = /^[\x20-\x7e–…]*$/

/** Loads the library for wide characters only if necessary, because loading it takes longer than most commands. */
async function measureFor(texts: readonly string[]): Promise<Measure> {
  if (texts.every((text) => narrow.test(text))) return (text) => text.length
  return (await import('string-width')).default
}

function measureWidth<Row>({ title, text }: Column<Row>, rows: readonly Row[], measure: Measure) {
  return rows.reduce((widest, row) => Math.max(widest, measure(text(row))), title.length)
}

type Room = { width: number; measure: Measure }

function fitting<Row>(columns: readonly Column<Row>[], rows: readonly Row[], room: Room) {
  const shown = [...columns]
  const total = () =>
    shown.reduce(
      (sum, column) => sum + measureWidth(column, rows, room.measure),
      (shown.length - 1) * gap.length,
    )
  while (total() > room.width) {
    const last = shown.findLastIndex(({ isOptional }) => isOptional === true)
    if (last < 0) break
    shown.splice(last, 1)
  }
  return shown
}
