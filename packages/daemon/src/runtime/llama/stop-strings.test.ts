import { expect, test } from 'vitest'
import { stopStrings } from './stop-strings.ts'

function run(stops: string[], pieces: string[]) {
  const filter = stopStrings(stops)
  const given = pieces.map((piece) => filter.take(piece))
  return { given, rest: filter.isStopped() ? '' : filter.finish(), isStopped: filter.isStopped() }
}

test('text without stop strings is output immediately', () => {
  expect(run([], ['a', 'b'])).toEqual({ given: ['a', 'b'], rest: '', isStopped: false })
})

test('a stop string is found even if it is split into parts, and none of it is output', () => {
  expect(run(['END'], ['one E', 'N', 'D two'])).toEqual({
    given: ['one ', '', ''],
    rest: '',
    isStopped: true,
  })
})

test('text that only begins like a stop string is output later, or at the end', () => {
  expect(run(['END'], ['E', 'NX', 'EN'])).toEqual({
    given: ['', 'ENX', ''],
    rest: 'EN',
    isStopped: false,
  })
})

test('the first of several stop strings counts, even if one is the beginning of another', () => {
  expect(run(['abc', 'b'], ['xab'])).toMatchObject({ given: ['xa'], isStopped: true })
  expect(run(['END', 'STOP'], ['a STOP b END'])).toMatchObject({ given: ['a '], isStopped: true })
  expect(run(['\n\n', '\n'], ['a\nb'])).toMatchObject({ given: ['a'], isStopped: true })
})

test('a stop string is found even if it overlaps with an incomplete occurrence before it', () => {
  expect(run(['aab'], ['aaa', 'ab'])).toMatchObject({ given: ['a', 'a'], isStopped: true })
})
