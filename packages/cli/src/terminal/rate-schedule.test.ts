import { expect, test } from 'vitest'
import { parseRates } from './rate-schedule.ts'

test('a schedule limits the speed by the hours of the day', () => {
  const schedule = parseRates('20MB, 2MB 8-18, off 22:30-6:00')
  if (typeof schedule === 'number') return expect.fail('not a schedule')
  const at = (hour: number, minute = 0) => schedule.at(new Date(2026, 0, 5, hour, minute))
  expect([7, 8, 17, 18, 22, 23, 0, 6].map((hour) => at(hour))).toEqual([
    ...[20e6, 2e6, 2e6, 20e6, 20e6, undefined, undefined, 20e6],
  ])
  expect([at(22, 29), at(22, 30)]).toEqual([20e6, undefined])
  expect(parseRates('10MB/s')).toBe(10e6)
})

test.each(['2MB 8-8', '2MB 8-25', '2MB 8:60-9', 'fast 8-18', '2MB, fast', ''])(
  '“%s” is not a schedule',
  (text) => {
    expect(() => parseRates(text)).toThrow(/is not a valid (speed|period)/)
  },
)
