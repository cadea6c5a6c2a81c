import type { Printer } from './printer.ts'
import { type Column, table } from './table.ts'

type List<Row> = {
  columns: readonly Column<Row>[]
  /** Printed to stderr if there are no rows. */
  none?: string
  /** What `--json` prints. Default: the rows. */
  document?: unknown
  /** The width to which the table is made to fit. Default: unlimited. */
  width?: number | undefined
}

/** Prints rows as a table, or as JSON under `--json`. A table without rows has no title either. */
export async function printList<Row>(
  printer: Printer,
  rows: readonly Row[],
  { columns, none, document = rows, width }: List<Row>,
): Promise<void> {
  await printer.answer(document, () =>
    rows.length === 0 ? [] : table(columns, rows, { columns: width, paintTitle: printer.out.dim }),
  )
  if (rows.length === 0 && none !== undefined) printer.note(none)
}
