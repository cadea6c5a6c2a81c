import { getEventListeners } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { movedClock } from '../testing/moved-clock.ts'
import { sleep } from './sleep.ts'

const reason = new Error('enough')

test('sleep resolves after the delay and leaves no listener behind', async () => {
  const clock = movedClock()
  const { signal } = new AbortController()
  const ended = vi.fn()
  const sleeping = sleep(1_000, signal, clock).then(ended)
  clock.advance(999)
  await setImmediate()
  expect(ended).not.toHaveBeenCalled()
  clock.advance(1)
  await sleeping
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

test("an aborted sleep rejects with the signal's reason and leaves no timer or listener behind", async () => {
  const clock = movedClock()
  const abort = new AbortController()
  const sleeping = sleep(1_000, abort.signal, clock)
  abort.abort(reason)
  await expect(sleeping).rejects.toBe(reason)
  expect(clock.pending()).toBe(0)
  expect(getEventListeners(abort.signal, 'abort')).toEqual([])
})

test('sleep rejects immediately if the signal has already aborted', async () => {
  const clock = movedClock()
  await expect(sleep(1_000, AbortSignal.abort(reason), clock)).rejects.toBe(reason)
  expect(clock.pending()).toBe(0)
})

test.each([2 ** 31, 1e15, Number.POSITIVE_INFINITY])(
  'a delay of %d ms, more than a timer supports, does not end immediately',
  async (ms) => {
    const setTimer = vi.spyOn(globalThis, 'setTimeout')
    onTestFinished(() => void vi.restoreAllMocks())
    const abort = new AbortController()
    const sleeping = sleep(ms, abort.signal)
    expect(setTimer).toHaveBeenCalledWith(expect.any(Function), 2 ** 31 - 1)
    abort.abort(reason)
    await expect(sleeping).rejects.toBe(reason)
  },
)
