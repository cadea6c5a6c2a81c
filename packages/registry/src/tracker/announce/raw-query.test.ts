import { expect, test } from 'vitest'
import { readQuery, single } from './raw-query.ts'

const read = (url: string) => Object.fromEntries(readQuery(url))

test('a query is parsed byte by byte', () => {
  expect(read('/announce?a=%00%FFz%c3%A4&b=1+2')).toEqual({
    a: ['\0\u00ffz\u00c3\u00a4'],
    b: ['1 2'],
  })
  expect(read('/announce?a=\u00ff')).toEqual({ a: ['\u00ff'] })
})

test('an invalid escape sequence is left unchanged', () => {
  expect(read('/announce?a=%&b=%4&c=%zz&d=%u1234')).toEqual({
    a: ['%'],
    b: ['%4'],
    c: ['%zz'],
    d: ['%u1234'],
  })
})

test('a parameter may have no value, several values, or a value with an equals sign', () => {
  expect(read('/scrape?a&b=&a=1&c=x=y&__proto__=1')).toEqual({
    a: ['', '1'],
    b: [''],
    c: ['x=y'],
    ['__proto__']: ['1'],
  })
  expect(read('/scrape')).toEqual({})
})

test('a repeated parameter is refused if it may occur only once', () => {
  expect(single(readQuery('/?a=1'), 'a')).toBe('1')
  expect(single(readQuery('/?a=1'), 'b')).toBeUndefined()
  expect(() => single(readQuery('/?a=1&a=1'), 'a')).toThrow('a is given 2 times')
})
