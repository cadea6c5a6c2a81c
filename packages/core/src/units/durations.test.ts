import { expect, test } from 'vitest'
import { durationExamples, endless, notDurations } from '../testing/index.ts'
import { parseDuration, parseKeepAlive } from './durations.ts'

test.each([
  ['250ms', 250],
  ['5m', 300_000],
  ['30min', 1_800_000],
  ['1h30m', 5_400_000],
  ['1.5h', 5_400_000],
  ['90d', 7_776_000_000],
  ['2w', 1_209_600_000],
  ['1y', 31_536_000_000],
  ['0s', 0],
  ['3µs', 0.003],
  ['3μs', 0.003],
])('%s is %d milliseconds', (text, ms) => {
  expect(parseDuration(text)).toBeCloseTo(ms, 9)
})

test('a duration can be written in many ways', () => {
  for (const { text, ms } of durationExamples()) expect(parseDuration(text), text).toBe(ms)
  for (const text of endless) expect(parseDuration(text), text).toBe(Number.POSITIVE_INFINITY)
})

test('a number without a unit has the default unit, if there is one', () => {
  expect(parseDuration('90')).toBeUndefined()
  expect(parseDuration('90', 's')).toBe(90_000)
  expect(parseDuration('7', 'd')).toBe(604_800_000)
  expect(parseDuration('5m', 'd')).toBe(300_000)
})

test.each(['', ' ', ...notDurations])('“%s” is not a duration', (text) => {
  expect(parseDuration(text)).toBeUndefined()
  expect(parseDuration(text, 's')).toBeUndefined()
})

test('a negative keep-alive time means forever', () => {
  for (const text of ['-1', '-5m', ' -1h30m']) {
    expect(parseKeepAlive(text), text).toBe(Number.POSITIVE_INFINITY)
    expect(parseDuration(text, 's'), text).toBeUndefined()
  }
  expect(['+5m', '90', '0', '-0'].map(parseKeepAlive)).toEqual([300_000, 90_000, 0, 0])
  expect([-1, 1e300, 90, 0.5].map(parseKeepAlive)).toEqual([
    Number.POSITIVE_INFINITY,
    Number.POSITIVE_INFINITY,
    90_000,
    500,
  ])
  for (const text of notDurations) expect(parseKeepAlive(text), text).toBeUndefined()
})
