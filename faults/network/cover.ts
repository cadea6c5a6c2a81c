import { type Random, randomFrom } from '../../bench/harness/random.ts'
import type { Cell } from './network-fault.ts'

/**
 * Chooses a cover of cells: each fault occurs in it at least once, and so does each spot. A run tests a cover, because
 * all cells would take 15 minutes of processor time. Which cells are chosen depends on the seed.
 */
export function chooseCover(cells: readonly Cell[], seed: number): Cell[] {
  const random = randomFrom(seed)
  const chosen = pickOfEach(cells, ({ fault }) => fault.name, random)
  const met = new Set(chosen.map(nameSpot))
  const others = cells.filter((cell) => !met.has(nameSpot(cell)))
  return [...chosen, ...pickOfEach(others, nameSpot, random)]
}

/** Names the requests that a cell harms: one place for the whole command, or all places of a column for a short time. */
export const nameSpot = ({ column, form, place }: Cell): string => `${place ?? column}, ${form}`

/** Groups the cells by their key, and picks one cell of each group. */
function pickOfEach(cells: readonly Cell[], getKey: (cell: Cell) => string, random: Random) {
  return [...Map.groupBy(cells, getKey).values()].map((group) => random.pick(group))
}
