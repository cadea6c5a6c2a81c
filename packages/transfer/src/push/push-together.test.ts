import { mebibyte } from '@shoal/core/units'
import { expect, test } from 'vitest'
import { pushTogether } from './push-together.ts'

const chunk = 16 * mebibyte

/** Pushes files of these numbers of chunks with two connections. `end` ends the push of a file. */
function start(...chunks: number[]) {
  const files = chunks.map((count, place) => ({ place, sizeBytes: count * chunk }))
  const started: number[] = []
  const ends = chunks.map(() => Promise.withResolvers<void>())
  const senders: (() => void)[] = []
  const pushed = pushTogether(files, {
    connections: 2,
    async push({ place }, onSent) {
      started.push(place)
      senders[place] = onSent
      await ends[place]?.promise
      return `file ${place}`
    },
  })
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  return { started, pushed, ends, senders, settle }
}

test('files share the connections, in order, and a file that is being processed takes none', async () => {
  const { started, pushed, ends, senders, settle } = start(1, 1, 3, 1)
  await settle()
  expect(started).toEqual([0, 1])
  ends[1]?.resolve()
  await settle()
  expect(started).toEqual([0, 1]) // the third file needs both connections
  senders[0]?.()
  await settle()
  expect(started).toEqual([0, 1, 2])
  senders[2]?.()
  await settle()
  expect(started).toEqual([0, 1, 2, 3])
  for (const { resolve } of ends) resolve()
  expect(await pushed).toEqual(['file 0', 'file 1', 'file 2', 'file 3'])
})

test('if a file fails, no more files are started, and the others end before the error is thrown', async () => {
  const { started, pushed, ends, settle } = start(1, 1, 1)
  await settle()
  let hasEnded = false
  const ended = pushed.catch(() => {
    hasEnded = true
  })
  ends[1]?.reject(new Error('refused'))
  await settle()
  expect(started).toEqual([0, 1])
  expect(hasEnded).toBe(false)
  ends[0]?.resolve()
  await ended
  await expect(pushed).rejects.toThrow('refused')
})
