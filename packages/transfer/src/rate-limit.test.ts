import { expect, test } from 'vitest'
import { rateClock, rateLimit, setRate } from './rate-limit.ts'

test('the rate can be changed while threads use the limit', () => {
  const clock = rateClock(1_000)
  const [one, other] = [rateLimit(clock), rateLimit(clock)]
  expect(one.take(500_000)).toBeGreaterThan(490_000)
  setRate(clock, 1e9)
  const waitMs = other.take(1_000)
  expect(waitMs).toBeGreaterThan(480_000) // what one thread has taken already counts
  setRate(clock, undefined)
  expect(other.take(500_000)).toBe(0)
})
