import { expect, test } from 'vitest'
import { newId } from './items.ts'
import { keptResponses } from './kept-responses.ts'
import { beginResponse } from './response-object.ts'

const limits = { maxCount: 3, maxBytes: 10_000, maxAgeMs: 60_000 }

const create = (characters = 10) => ({
  response: beginResponse({ model: 'm', input: 'Hi' }),
  conversation: [{ role: 'user' as const, content: 'x'.repeat(characters) }],
})

function keepAll(
  kept: ReturnType<ReturnType<typeof keptResponses>>,
  all: ReturnType<typeof create>[],
) {
  for (const { response, conversation } of all) kept.keep(response, conversation)
}

const isKept =
  (kept: ReturnType<ReturnType<typeof keptResponses>>) => (one: ReturnType<typeof create>) => {
    try {
      expect(kept.get(one.response.id)).toEqual(one.response)
      return true
    } catch (error) {
      expect(error).toMatchObject({ details: { status: 404, reason: 'response_not_found' } })
      return false
    }
  }

test('beyond the maximum number, the least recently used responses are dropped', () => {
  const kept = keptResponses(limits)('key')
  const all = Array.from({ length: 4 }, () => create())
  keepAll(kept, all.slice(0, 3))
  expect(all.slice(0, 1).every(isKept(kept))).toBe(true) // makes it the most recently used
  keepAll(kept, all.slice(3))
  expect(all.map(isKept(kept))).toEqual([true, false, true, true])
})

test('beyond the maximum size, the least recently used responses are dropped, and a response that alone exceeds it is not kept', () => {
  const kept = keptResponses(limits)('key')
  const all = [create(3000), create(3000), create(3000), create(20_000)]
  keepAll(kept, all)
  expect(all.map(isKept(kept))).toEqual([false, true, true, false])
})

test('a response is dropped when it is too old, even if it is used', async () => {
  const kept = keptResponses({ ...limits, maxAgeMs: 20 })('key')
  const one = create()
  keepAll(kept, [one])
  await expect.poll(() => isKept(kept)(one)).toBe(false)
})

test('the size is in bytes, not in characters', () => {
  const kept = keptResponses(limits)('key')
  const one = create()
  one.conversation = [{ role: 'user', content: '本'.repeat(4000) }]
  keepAll(kept, [one])
  expect(isKept(kept)(one)).toBe(false)
})

test('a kept response is unaffected by later changes to the objects passed to keep', () => {
  const kept = keptResponses(limits)('key')
  const { response, conversation } = create()
  kept.keep(response, conversation)
  conversation[0] = { role: 'user', content: 'changed' }
  response.model = 'changed'
  expect(kept.get(response.id).model).toBe('m')
  expect(kept.continue([], response.id)).toEqual([{ role: 'user', content: 'x'.repeat(10) }])
})

test('references to a large item cannot make a request larger than 16 MiB', () => {
  const kept = keptResponses({ ...limits, maxBytes: 10_000_000 })('key')
  const { response } = create()
  const id = newId('msg')
  const text = 'x'.repeat(1_000_000)
  const content = [{ type: 'output_text' as const, text, annotations: [] as [], logprobs: [] }]
  response.output = [{ id, type: 'message', role: 'assistant', status: 'completed', content }]
  kept.keep(response, [])
  const references = (count: number) => Array(count).fill({ type: 'item_reference', id })
  expect(kept.continue(references(16), undefined)).toHaveLength(16)
  expect(() => kept.continue(references(17), undefined)).toThrow(
    'the items to which input refers exceed 16 MiB in total',
  )
})
