import type { LlamaContextSequence, Token } from 'node-llama-cpp'
import { expect, test } from 'vitest'
import { type Slot, slots } from './slots.ts'

const { signal } = new AbortController()

/** Opens slots. Each number is the length, in tokens, of the prefix that a slot has in common with every prompt. */
const openSlots = (...prefixes: number[]) =>
  slots(
    prefixes.map(
      (length) =>
        ({
          compareContextTokens: () => ({ firstDifferentIndex: length }),
        }) as unknown as LlamaContextSequence,
    ),
  )
const prompt = Array.from({ length: 100 }, (_, index) => index as Token)

/** Takes slots for several requests, one after another. */
async function takeSlots({ take }: ReturnType<typeof openSlots>, count: number): Promise<Slot[]> {
  const taken: Slot[] = []
  while (taken.length < count) taken.push(await take(prompt, signal))
  return taken
}

const listIndexes = (taken: Slot[]) => taken.map(({ index }) => index)

test('a request gets the slot with the longest prefix of its prompt', async () => {
  expect(listIndexes(await takeSlots(openSlots(10, 80, 40), 3))).toEqual([1, 2, 0])
})

test('a request gets a slot beside the slots in use, unless another has a much longer prefix', async () => {
  expect(listIndexes(await takeSlots(openSlots(0, 5, 0, 9, 0), 3))).toEqual([3, 2, 1])
  expect(listIndexes(await takeSlots(openSlots(60, 0, 0, 90, 0), 2))).toEqual([3, 0])
})

test('otherwise, a request gets the slot that has been unused for longest', async () => {
  const all = openSlots(0, 0, 0)
  for (const slot of await takeSlots(all, 2)) all.release(slot)
  expect(listIndexes(await takeSlots(all, 1))).toEqual([2])
})
