import { movedClock } from '@shoal/core/testing'
import { expect, test } from 'vitest'
import { progressMeter } from './progress-meter.ts'

/** Creates a meter, and a function that lets a second pass. */
function startMeter(bytesTotal: number) {
  const clock = movedClock()
  const { read } = progressMeter(bytesTotal, clock)
  return { read, second: () => clock.advance(1000) }
}

test('progress never decreases', () => {
  const { read } = startMeter(100)
  expect(read(60, 60).bytesDone).toBe(60)
  expect(read(40, 60).bytesDone).toBe(60)
  expect(read(80, 100).bytesDone).toBe(80)
})

test('bytes that did not have to be transferred do not count towards the speed', () => {
  const { read, second } = startMeter(1e9)
  second()
  expect(read(5e8, 0).bytesPerSecond).toBe(0)
})

test('bytes sent again count towards the speed but not the progress', () => {
  const { read, second } = startMeter(100e6)
  second()
  expect(read(0, 5e6)).toMatchObject({ bytesDone: 0, bytesPerSecond: 5e6 })
})

test('a steady upload shows its speed and the time left', () => {
  const { read, second } = startMeter(100e6)
  for (let moved = 1e6; moved <= 20e6; moved += 1e6) {
    second()
    read(moved, moved)
  }
  second()
  const { bytesPerSecond, secondsLeft } = read(21e6, 21e6)
  expect(bytesPerSecond / 1e6).toBeCloseTo(1, 1)
  expect(secondsLeft).toBeCloseTo(79, -1)
})

test('the time left is unknown while nothing is transferred', () => {
  const { read, second } = startMeter(100)
  second()
  expect(read(0, 0).secondsLeft).toBeUndefined()
})
