import { expect, test } from 'vitest'
import { progressMeter } from './progress-meter.ts'

test('progress never runs backwards', () => {
  const meter = progressMeter(100, 0)
  expect(meter.read(60, 1000).bytesDone).toBe(60)
  expect(meter.read(40, 2000).bytesDone).toBe(60)
  expect(meter.read(80, 3000).bytesDone).toBe(80)
})

test('what was there before is no speed', () => {
  const meter = progressMeter(1e9, 0)
  expect(meter.read(5e8, 200).bytesPerSecond).toBe(0)
})

test('a steady upload shows its speed and the time left', () => {
  const meter = progressMeter(100e6, 0)
  meter.read(0, 1)
  for (let second = 1; second <= 20; second += 1) meter.read(second * 1e6, second * 1000)
  const { bytesPerSecond, secondsLeft } = meter.read(21e6, 21_000)
  expect(bytesPerSecond / 1e6).toBeCloseTo(1, 1)
  expect(secondsLeft).toBeCloseTo(79, -1)
})

test('nobody knows how long it takes while nothing moves', () => {
  const meter = progressMeter(100, 0)
  expect(meter.read(0, 1000).secondsLeft).toBeUndefined()
})
