import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { untilAborted } from './until-aborted.ts'

const reason = new Error('enough')
const never = new Promise<never>(() => undefined)

test('untilAborted settles like the work and leaves no listener behind', async () => {
  const { signal } = new AbortController()
  expect(await untilAborted(signal, Promise.resolve(1))).toBe(1)
  const failure = new Error('broken')
  await expect(untilAborted(signal, Promise.reject(failure))).rejects.toBe(failure)
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

test("untilAborted rejects with the signal's reason, whether the signal aborts before or during the work", async () => {
  await expect(untilAborted(AbortSignal.abort(reason), never)).rejects.toBe(reason)
  const abort = new AbortController()
  const waiting = untilAborted(abort.signal, never)
  abort.abort(reason)
  await expect(waiting).rejects.toBe(reason)
  expect(getEventListeners(abort.signal, 'abort')).toEqual([])
})
