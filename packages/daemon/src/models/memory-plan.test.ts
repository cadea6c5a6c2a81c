import { expect, test } from 'vitest'
import { canGrow, chooseToUnload, countUsableBytes, planPromptCache } from './memory-plan.ts'

const GB = 1e9
const now = new Date()
const model = (id: string, parts: object = {}) =>
  ({ model: { id }, memoryBytes: GB, requests: 0, loadedAt: now, usedAt: 0, ...parts }) as never
const busy = model('busy', { requests: 1 })

test('a new model may use free memory and the memory of idle models, up to the limit', () => {
  const idle = model('idle', { memoryBytes: 2 * GB })
  const loading = model('loading', { memoryBytes: 4 * GB, loadedAt: undefined })
  const all = [busy, idle, loading]
  expect(countUsableBytes(all, { memoryBytes: 100 * GB, freeBytes: 3 * GB })).toBe(5 * GB)
  expect(countUsableBytes(all, { memoryBytes: 4 * GB, freeBytes: 3 * GB })).toBe(3 * GB)
})

test('a model is reloaded for a longer context only if models in use can stay loaded', () => {
  const plan = (contextLength: number, memoryBytes: number) =>
    ({ contextLength, memoryBytes }) as never
  const grows = (length: number, bytes: number) =>
    canGrow(plan(512, GB), plan(length, bytes), [busy, model('idle')], { memoryBytes: 3 * GB })
  expect(grows(1024, 2 * GB)).toBe(true)
  expect(grows(1024, 2.1 * GB)).toBe(false)
  expect(grows(512, GB)).toBe(false)
})

test('the least recently used idle models are unloaded first, as many as are needed', () => {
  const wanted = model('wanted', { loadedAt: undefined })
  const [older, newer] = [model('older', { usedAt: 1 }), model('newer', { usedAt: 2 })]
  const choose = (memoryBytes: number) =>
    chooseToUnload(wanted, [busy, newer, older, wanted], { memoryBytes })
  expect(choose(4 * GB)).toEqual([])
  expect(choose(3 * GB)).toEqual([older])
  expect(choose(GB)).toEqual([older, newer, busy])
  expect(() => choose(GB / 2)).toThrow('wanted needs 1.00 GB of memory')
})

test('the prompt cache may use a quarter of the memory that is left, up to 8 GB', () => {
  const wanted = model('wanted', { bytesPerToken: 7 })
  const bytes = (memoryBytes: number, freeBytes: number) =>
    planPromptCache(wanted, [busy, wanted], { memoryBytes, freeBytes })
  expect(bytes(4 * GB, 100 * GB)).toEqual({ maxBytes: GB / 2, bytesPerToken: 7 })
  expect(bytes(100 * GB, 3 * GB).maxBytes).toBe(GB / 2)
  expect(bytes(100 * GB, GB / 2).maxBytes).toBe(0)
  expect(bytes(200 * GB, 200 * GB).maxBytes).toBe(8 * GB)
})
