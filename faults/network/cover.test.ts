import { expect, test } from 'vitest'
import { listCells, networkFaults } from './all-network-faults.ts'
import { chooseCover, nameSpot } from './cover.ts'

const cells = networkFaults.flatMap(listCells)
const seeds = Array.from({ length: 1_000 }, (_, index) => 1 + index * 260_009)

test('a cover has each fault, and each place and column for both forms of harm', () => {
  const spots = new Set(cells.map(nameSpot))
  expect(spots.size).toBe(13) // 5 columns in which the harm goes away, and 8 places at which it stays
  for (const seed of seeds) {
    const cover = chooseCover(cells, seed)
    expect(new Set(cover.map(({ fault }) => fault))).toEqual(new Set(networkFaults))
    expect(new Set(cover.map(nameSpot))).toEqual(spots)
    expect(new Set(cover).size).toBe(cover.length)
    expect(cover.length).toBeLessThanOrEqual(networkFaults.length + spots.size)
  }
})

test('the same seed chooses the same cover, and all seeds together choose every cell', () => {
  const chosen = new Set(seeds.flatMap((seed) => chooseCover(cells, seed)))
  expect(chosen.size).toBe(new Set(cells.map(toKey)).size)
  expect(chooseCover(cells, 7).map(toKey)).toEqual(chooseCover(cells, 7).map(toKey))
  expect(chooseCover(cells, 7).map(toKey)).not.toEqual(chooseCover(cells, 8).map(toKey))
})

function toKey(cell: (typeof cells)[number]): string {
  return `${cell.fault.name}, ${nameSpot(cell)}`
}
