import { newPeerId } from '@shoal/model-file'
import { describe, expect, it } from 'vitest'
import { rankFor } from './divide-pieces.ts'

const pieces = Array.from({ length: 4_000 }, (_, piece) => piece)
const pullers = Array.from({ length: 8 }, newPeerId)

function rank(piece: number, self: string, all = pullers) {
  return rankFor(
    piece,
    self,
    all.filter((one) => one !== self),
  )
}

describe('rankFor', () => {
  it('gives each piece exactly one first puller, and each puller the same number of pieces', () => {
    const counts = pullers.map(
      (puller) => pieces.filter((piece) => rank(piece, puller) === 0).length,
    )
    expect(counts.reduce((sum, count) => sum + count)).toBe(pieces.length)
    for (const count of counts) expect(Math.abs(count - 500)).toBeLessThan(120) // six standard deviations
  })

  it('orders the pullers differently for each piece', () => {
    const orders = new Set(pieces.map((piece) => pullers.map((one) => rank(piece, one)).join()))
    expect(orders.size).toBeGreaterThan(3_000)
  })

  it('moves only the pieces of a puller that leaves', () => {
    const rest = pullers.slice(1)
    for (const piece of pieces) {
      const [first] = pullers.filter((puller) => rank(piece, puller) === 0)
      if (first !== undefined && rest.includes(first)) expect(rank(piece, first, rest)).toBe(0)
    }
  })

  it('is 0 without other pullers', () => expect(rankFor(7, newPeerId(), [])).toBe(0))
})
