import { expect, test } from 'vitest'
import { type CpuTimes, freeCoresMeter } from './free-cores.ts'

test('idle cores, and cores that this process uses, count as free', () => {
  let times: CpuTimes = { at: 0, idleMs: 0, ownMs: 0 }
  const freeCores = freeCoresMeter(() => times)
  expect(freeCores(50)).toBeUndefined()
  times = { at: 200, idleMs: 500, ownMs: 200 }
  expect(freeCores(200)).toBe(3.5)
  times = { at: 250, idleMs: 500, ownMs: 200 }
  expect(freeCores(250)).toBe(3.5)
  times = { at: 400, idleMs: 500, ownMs: 300 }
  expect(freeCores(400)).toBe(0.5)
})

test('the number of free cores is undefined if the system reports no processor times', () => {
  expect(freeCoresMeter(() => undefined)(1_000)).toBeUndefined()
})

test('the number of free cores of this machine is measured, and is not negative', async () => {
  const freeCores = freeCoresMeter()
  await expect.poll(() => freeCores()).toBeDefined()
  expect(freeCores()).toBeGreaterThanOrEqual(0)
})
