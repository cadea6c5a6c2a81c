import { durationExamples, endless, notDurations } from '@shoal/core/testing'
import { expect, test } from 'vitest'
import { toKeepAliveMs } from './keep-alive.ts'

test.each([
  [undefined, undefined],
  [null, undefined],
  ['', undefined],
  [0, 0],
  ['0', 0],
  ['0s', 0],
  [90, 90_000],
  ['90', 90_000],
  ['5m', 300_000],
  ['1h30m', 5_400_000],
  ['1.5h', 5_400_000],
  ['250ms', 250],
  [-1, -1],
  [1e300, -1],
  ['-1', -1],
  ['-5m', -1],
])('a keep_alive of %s is %s milliseconds', (keepAlive, ms) => {
  expect(toKeepAliveMs(keepAlive)).toBe(ms)
})

test.each(['soon', '5 m', '5x', 'm', '1h-30m'])('“%s” is not a duration', (text) => {
  expect(() => toKeepAliveMs(text)).toThrow(`not "${text}"`)
})

test('durations are accepted in every notation', () => {
  for (const { text, ms } of durationExamples()) expect(toKeepAliveMs(text), text).toBe(ms)
  for (const text of endless) expect(toKeepAliveMs(text), text).toBe(-1)
  for (const text of notDurations) expect(() => toKeepAliveMs(text)).toThrow(`not "${text}"`)
})
