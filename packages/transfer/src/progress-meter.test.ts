import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { progressMeter } from './progress-meter.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

const second = () => vi.advanceTimersByTime(1000)

test('progress never decreases', () => {
  const meter = progressMeter(100)
  expect(meter.read(60, 60).bytesDone).toBe(60)
  expect(meter.read(40, 60).bytesDone).toBe(60)
  expect(meter.read(80, 100).bytesDone).toBe(80)
})

test('bytes that did not have to be transferred do not count towards the speed', () => {
  const meter = progressMeter(1e9)
  second()
  expect(meter.read(5e8, 0).bytesPerSecond).toBe(0)
})

test('bytes sent again count towards the speed but not the progress', () => {
  const meter = progressMeter(100e6)
  second()
  expect(meter.read(0, 5e6)).toMatchObject({ bytesDone: 0, bytesPerSecond: 5e6 })
})

test('a steady upload shows its speed and the time left', () => {
  const meter = progressMeter(100e6)
  for (let moved = 1e6; moved <= 20e6; moved += 1e6) {
    second()
    meter.read(moved, moved)
  }
  second()
  const { bytesPerSecond, secondsLeft } = meter.read(21e6, 21e6)
  expect(bytesPerSecond / 1e6).toBeCloseTo(1, 1)
  expect(secondsLeft).toBeCloseTo(79, -1)
})

test('the time left is unknown while nothing is transferred', () => {
  const meter = progressMeter(100)
  second()
  expect(meter.read(0, 0).secondsLeft).toBeUndefined()
})
