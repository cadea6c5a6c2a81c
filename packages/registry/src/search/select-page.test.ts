import { expect, test } from 'vitest'
import { selectPage } from './select-page.ts'
import { TopDocuments } from './top-documents.ts'

/** Generates the same sequence of pseudorandom numbers in every run. */
function* numbersBelow(end: number): Generator<number, never> {
  for (let state = 12345; ; ) {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    yield (state >>> 8) % end
  }
}

test.each([
  ['short', 60, 2_000],
  ['long', 20_000, 60],
])(
  'selectPage returns the same page of a %s list as sorting the entire list, even with equal keys',
  (_, maxLength, rounds) => {
    const numbers = numbersBelow(1_000_003)
    const draw = (end: number) => numbers.next().value % end
    for (let round = 0; round < rounds; round += 1) {
      const spread = round % 3 === 0 ? 10 ** (round % 15) : 1
      const toKey = () => draw(1 + (round % 40)) ** 2 * spread * (round % 2 === 0 ? 1 : -1)
      const values = Array.from({ length: draw(maxLength) }, toKey)
      const documents = Uint32Array.from(values, (_, document) => document)
      const keys = Float64Array.from(values)
      const breakTie = (a: number, b: number) => b - a
      const sorted = Array.from(documents).sort(
        (a, b) => (values[b] ?? 0) - (values[a] ?? 0) || breakTie(a, b),
      )
      const [offset, limit] = [draw(maxLength + 10), draw(70)]
      const top = new TopDocuments(limit, breakTie)
      for (const document of documents) top.offer(document, values[document] ?? 0)
      expect(top.toArray()).toEqual(
        sorted.slice(0, limit).map((document) => ({ document, key: values[document] })),
      )
      const tieKey = (document: number) => Math.floor(document / 100)
      expect(selectPage({ documents, keys, breakTie, tieKey }, offset, limit)).toEqual(
        sorted
          .slice(offset, offset + limit)
          .map((document) => ({ document, key: values[document] })),
      )
    }
  },
)
