import { expect, test } from 'vitest'
import { jsonEnd } from './json-end.ts'

const places = (pieces: string[]) => {
  const end = jsonEnd()
  return pieces.map((piece) => end.isOver(piece))
}

test('a value is over with its last bracket, not with one inside or in a string', () => {
  expect(places(['{"a":', '[1, {}', ']', '}'])).toEqual([false, false, false, true])
  expect(places(['{"a":"}', '\\"', '}"', ' }\n'])).toEqual([false, false, false, true])
})

test('white space before it is no value', () => {
  expect(places([' \n', '[', ']'])).toEqual([false, false, true])
})
