import { describe, expect, test } from 'vitest'
import type { CatalogueModel } from './catalogue-model.ts'
import type { Grade } from './judged-queries.ts'
import { scoreOrder, scoreQueries } from './score-queries.ts'

describe('scoreOrder', () => {
  test('is 1 for the best order and 0 if nothing relevant is found', () => {
    expect(scoreOrder([3, 2, 1], [1, 0, 3, 2])).toBe(1)
    expect(scoreOrder([0, 0], [1, 0, 3, 2, 0])).toBe(0)
    expect(scoreOrder([], [1])).toBe(0)
  })

  test('discounts a gain by its position', () => {
    // (7 + 3 / log2 3 + 1 / log2 5) / (7 + 3 / log2 3 + 1 / log2 4) = 9.323466 / 9.392789
    expect(scoreOrder([3, 2, 0, 1], [0, 1, 2, 3])).toBeCloseTo(0.99262, 5)
    // (1 + 7 / log2 3) / (7 + 1 / log2 3) = 5.416508 / 7.63093
    expect(scoreOrder([1, 3], [3, 1])).toBeCloseTo(0.70981, 5)
    // 3 / log2 11 / 3
    expect(scoreOrder([0, 0, 0, 0, 0, 0, 0, 0, 0, 2], [2])).toBeCloseTo(0.28906, 5)
  })

  test('counts only the first ten results, and only the first ten models of the ideal order', () => {
    const twelve = Array<Grade>(12).fill(2)
    expect(scoreOrder(twelve.slice(0, 10), twelve)).toBe(1)
    expect(scoreOrder([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3], [3])).toBe(0)
  })

  test('refuses a query without relevant models', () => {
    expect(() => scoreOrder([0], [0])).toThrow('nothing is relevant')
  })
})

describe('scoreQueries', () => {
  const [red, dark, blue] = ['red', 'dark', 'blue'].map((name) => ({ name })) as CatalogueModel[]
  const catalogue = [red, dark, blue] as CatalogueModel[]
  const queries = [
    { q: 'red', rules: [[3, { name: 'red' }]] },
    { q: 'blue', rules: [[3, { name: 'blue' }]] },
  ] as const
  const score = (search: (q: string) => string[]) =>
    scoreQueries(async (q) => search(q), queries, catalogue)

  test('scores each query, and computes the mean of the scores', async () => {
    const { mean, queries } = await score(() => ['red', 'dark', 'blue'])
    expect(queries).toEqual([
      { q: 'red', score: 1, found: ['red', 'dark', 'blue'] },
      { q: 'blue', score: 0.5, found: ['red', 'dark', 'blue'] },
    ])
    expect(mean).toBe(0.75)
  })

  test('refuses results that are not in the catalogue, or are found twice', async () => {
    await expect(score(() => ['green'])).rejects.toThrow('red: green is not in the catalogue')
    await expect(score((q) => [q, q])).rejects.toThrow('red: a model was found twice')
  })
})
