import { expect, test } from 'vitest'
import { keptResponses } from './kept-responses.ts'
import { beginResponse } from './response-object.ts'

const limits = { maxCount: 3, maxSize: 10_000, maxAgeMs: 60_000 }

const create = (characters = 10) => ({
  response: beginResponse({ model: 'm', input: 'Hi' }),
  conversation: [{ role: 'user' as const, content: 'x'.repeat(characters) }],
})

function keepAll(kept: ReturnType<typeof keptResponses>, all: ReturnType<typeof create>[]) {
  for (const { response, conversation } of all) kept.keep(response, conversation)
}

const isKept = (kept: ReturnType<typeof keptResponses>) => (one: ReturnType<typeof create>) => {
  try {
    return kept.get(one.response.id) === one.response
  } catch (error) {
    expect(error).toMatchObject({ details: { status: 404, reason: 'response_not_found' } })
    return false
  }
}

test('beyond the maximum number, the least recently used responses are dropped', () => {
  const kept = keptResponses(limits)
  const all = Array.from({ length: 4 }, () => create())
  keepAll(kept, all.slice(0, 3))
  expect(all.slice(0, 1).every(isKept(kept))).toBe(true) // and so it was used most recently
  keepAll(kept, all.slice(3))
  expect(all.map(isKept(kept))).toEqual([true, false, true, true])
})

test('beyond the maximum size, too; a response that is larger than that is not kept', () => {
  const kept = keptResponses(limits)
  const all = [create(3000), create(3000), create(3000), create(20_000)]
  keepAll(kept, all)
  expect(all.map(isKept(kept))).toEqual([false, true, true, false])
})

test('a response is dropped when it is too old, even if it is used', async () => {
  const kept = keptResponses({ ...limits, maxAgeMs: 20 })
  const one = create()
  keepAll(kept, [one])
  await expect.poll(() => isKept(kept)(one)).toBe(false)
})
