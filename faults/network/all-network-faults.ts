import { answerFaults } from './answer-faults.ts'
import { byteFaults } from './byte-faults.ts'
import { connectionFaults } from './connection-faults.ts'
import type { End } from './ends.ts'
import type { Cell, ColumnEnds, NetworkFault } from './network-fault.ts'
import { type Column, columns, type Place } from './places.ts'

/** All faults, in the order in which the table lists them. */
export const networkFaults: readonly NetworkFault[] = [
  ...connectionFaults,
  ...answerFaults,
  ...byteFaults,
]

export const columnNames = Object.keys(columns) as Column[]

/** Returns one cell for each command that is run to test a fault. */
export function listCells(fault: NetworkFault): Cell[] {
  return columnNames.flatMap((column) => cellsIn(fault, column, fault.ends[column]))
}

function cellsIn(fault: NetworkFault, column: Column, declared: ColumnEnds): Cell[] {
  if ('dash' in declared) return []
  const { 'goes away': goesAway, stays } = declared
  const cells: Cell[] = []
  if (goesAway !== undefined && !isDash(goesAway)) {
    cells.push({ fault, column, form: 'goes away', place: undefined, end: goesAway })
  }
  if ('dash' in stays) return cells
  for (const [place, end] of Object.entries(stays) as [Place, End][]) {
    cells.push({ fault, column, form: 'stays', place, end })
  }
  return cells
}

export const isDash = (declared: object | string): declared is { dash: string } =>
  typeof declared === 'object' && 'dash' in declared
