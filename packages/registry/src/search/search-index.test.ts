import { expect, test } from 'vitest'
import type { IndexedModel } from './indexed-model.ts'
import { SearchIndex } from './search-index.ts'
import { sampleModel as model, sampleQuery as query } from './testing/samples.ts'

function indexOf(...models: IndexedModel[]): SearchIndex {
  const index = new SearchIndex()
  for (const one of models) index.put(one)
  return index
}

test('models are found by the memory that they need with a context length', () => {
  const sizes = { minMemoryBytes: 8e9, cacheBytesPerToken: 1e5 }
  const index = indexOf(
    model(1, { ...sizes, contextLength: 65_536 }),
    model(2, { ...sizes, contextLength: 4096 }),
    model(3, sizes),
    model(4, { contextLength: 65_536 }),
    model(5, { minMemoryBytes: 20e9, minFileSizeBytes: 16e9 }), // the memory per token is estimated
  )
  const find = (maxBytes: number, contextTokens: number) =>
    index.find({ ...query, memory: { maxBytes, contextTokens } }).seqs.toSorted()
  expect(find(20e9, 8192)).toEqual([1, 2, 3, 5])
  expect(find(20e9, 16_384)).toEqual([1, 2, 3])
  expect(find(8e9, 8192)).toEqual([1, 2, 3])
  expect(find(8e9, 16_384)).toEqual([2])
  expect(find(8e9 + 8192 * 1e5, 16_384)).toEqual([1, 2, 3])
  expect(find(8e9 - 2049 * 1e5, 2048)).toEqual([1, 3])
})

test('an empty index finds nothing', () => {
  const index = new SearchIndex()
  expect(index.find({ ...query, text: 'llama' })).toEqual({ seqs: [], total: 0 })
  expect(index.countLabels(query)).toEqual([])
  expect(index.total(10)).toEqual({
    models: 0,
    files: 0,
    bytes: 0,
    downloads: 0,
    parameterCounts: [],
  })
})

test('a changed model is found by its new words only, and a deleted one not at all', () => {
  const index = indexOf(model(1, { description: 'tide' }), model(2, { description: 'tide' }))
  index.put(model(1, { description: 'reef' }))
  expect(index.find({ ...query, text: 'tide' }).seqs).toEqual([2])
  expect(index.find({ ...query, text: 'reef' }).seqs).toEqual([1])
  index.remove(2)
  expect(index.find(query)).toMatchObject({ seqs: [1], total: 1 })
  expect(index.countLabels(query)).toEqual([{ kind: 'owner', value: 'ana', count: 1 }])
})

test('a change to a model’s downloads changes the order', () => {
  const index = indexOf(model(1, { downloads: 5 }), model(2, { downloads: 7 }))
  expect(index.find(query).seqs).toEqual([2, 1])
  index.update(1, model(1, { downloads: 9 }))
  expect(index.find(query).seqs).toEqual([1, 2])
  index.update(3, model(3))
  expect(index.find(query).total).toBe(2)
})

test('the totals are updated with every change to a public model', () => {
  const one = { filesCount: 1, totalSizeBytes: 100, downloads: 3 }
  const index = indexOf(model(1, one), model(2, one), model(3, { ...one, isPublic: false }))
  expect(index.total(0)).toMatchObject({ models: 2, files: 2, bytes: 200, downloads: 6 })
  index.update(1, model(1, { ...one, downloads: 4 }))
  index.update(3, model(3, { ...one, downloads: 9 }))
  index.put(model(2, { ...one, filesCount: 2, totalSizeBytes: 300 }))
  expect(index.total(0)).toMatchObject({ models: 2, files: 3, bytes: 400, downloads: 7 })
  index.put(model(2, { isPublic: false }))
  index.remove(3)
  expect(index.total(0)).toMatchObject({ models: 1, files: 1, bytes: 100, downloads: 4 })
  index.remove(1)
  index.remove(1)
  expect(index.total(0)).toMatchObject({ models: 0, files: 0, bytes: 0, downloads: 0 })
})

test('models with equal values are sorted by ID, in the direction of the order', () => {
  const index = indexOf(...Array.from({ length: 200 }, (_, at) => model(at + 1)))
  expect(index.find({ ...query, limit: 3 }).seqs).toEqual([200, 199, 198])
  expect(index.find({ ...query, limit: 3, order: 'asc', offset: 50 }).seqs).toEqual([51, 52, 53])
})

test('a range filter does not match models whose size is unknown', () => {
  const index = indexOf(model(1, { parameterCount: 7e9 }), model(2))
  const ranges = [{ field: 'parameterCount' as const, max: 8e9 }]
  expect(index.find({ ...query, ranges }).seqs).toEqual([1])
})

test('private models are found only by their owners and by users who may see all models', () => {
  const index = indexOf(
    model(1),
    model(2, { isPublic: false }),
    model(3, { isPublic: false, owner: 'ben' }),
  )
  const findAs = (username: string | undefined, seesAll = false) =>
    index.find({ ...query, order: 'asc', viewer: { username, seesAll } }).seqs
  expect(findAs(undefined)).toEqual([1])
  expect(findAs('ana')).toEqual([1, 2])
  expect(findAs('ben')).toEqual([1, 3])
  expect(findAs('root', true)).toEqual([1, 2, 3])
  expect(index.total(5)).toMatchObject({ models: 1, parameterCounts: [null] })
})

test('a query word matches terms that begin with it, whether or not the terms have been sorted yet', () => {
  const index = indexOf(model(1, { name: 'llamafile' }))
  index.settle()
  index.put(model(2, { name: 'llama' }))
  for (let seq = 3; seq < 3_000; seq += 1) index.put(model(seq, { name: `x${seq}y` }))
  expect(index.find({ ...query, text: 'llam' }).total).toBe(2)
  expect(index.find({ ...query, text: 'x2999' }).seqs).toEqual([2999])
})

test.each(['lama', 'llamma', 'lalma', 'klama', 'llbma'])('%s is corrected to llama', (text) => {
  const index = indexOf(model(1, { name: 'llama-7b' }), model(2, { name: 'tide' }))
  expect(index.find({ ...query, text }).seqs).toEqual([1])
})
