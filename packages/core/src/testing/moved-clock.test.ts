import { expect, test } from 'vitest'
import { movedClock } from './moved-clock.ts'

test('a moved clock calls what is due, in order, and never what was canceled', () => {
  const clock = movedClock()
  const called: [string, number][] = []
  const note = (what: string) => () => void called.push([what, clock.now()])
  clock.after(20, note('second'))
  clock.after(10, () => {
    note('first')()
    clock.after(5, note('started by the first'))
  })
  const cancel = clock.after(15, note('canceled'))
  clock.after(21, note('later'))
  cancel()
  clock.advance(20)
  expect(called).toEqual([
    ['first', 10],
    ['started by the first', 15],
    ['second', 20],
  ])
  expect(clock.now()).toBe(20)
})
