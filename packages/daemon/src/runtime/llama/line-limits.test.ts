import { expect, test } from 'vitest'
import { lineLimits } from './line-limits.ts'

/** Takes texts until the answer is over. Returns the answer. */
function takeAll(limits: ReturnType<typeof lineLimits>, texts: string[]) {
  let answer = ''
  for (const text of texts) if (!limits.isOver()) answer += limits.take(text)
  return [answer + (limits.isOver() ? '' : limits.finish()), limits.isOver()]
}

test('an answer ends before a line that is indented too little, but not at an empty line', () => {
  const code = ['return 1', '\n', '  ', '  a', '\n\n ', '\t\tb\n', '  ', 'c', '\nd']
  const takeWith = (minIndent: number) => takeAll(lineLimits({ minIndent, maxMs: 0 }), code)
  expect(takeWith(3)).toEqual(['return 1\n    a\n\n \t\tb', true])
  expect(takeWith(2)).toEqual(['return 1\n    a\n\n \t\tb\n  c', true])
  expect(takeWith(0)).toEqual([code.join(''), false])
  expect(takeAll(lineLimits({ minIndent: 2, maxMs: 0 }), ['a\n', '  '])).toEqual(['a\n  ', false])
})

test('an answer ends when its time is over, as soon as it has a line break', () => {
  let now = 0
  const limits = lineLimits({ minIndent: 0, maxMs: 100 }, () => now)
  expect([limits.take('a'), limits.isOver()]).toEqual(['a', false])
  now = 200
  expect([limits.take('b'), limits.isOver()]).toEqual(['b', false])
  expect([limits.take('c\n'), limits.isOver()]).toEqual(['c\n', true])
})
