import { expect, test } from 'vitest'
import { decodeBencode, encodeBencode } from './bencode.ts'

test('values are encoded as BEP 3 specifies, with sorted keys', () => {
  const value = {
    spam: ['a', -3],
    cow: { '\xff': 1, '\x00': new Uint8Array([200, 10]) },
    no: undefined,
  }
  expect(encodeBencode(value).toString('latin1')).toBe(
    'd3:cowd1:\x002:\xc8\n1:\xffi1ee4:spaml1:ai-3eee',
  )
})

test('encoded values can be decoded', () => {
  const written = encodeBencode({ a: 12_345_678_901_234, b: ['x', {}], name: Buffer.from('ü') })
  expect(decodeBencode(written)).toEqual(
    new Map<string, unknown>([
      ['a', 12_345_678_901_234],
      ['b', [Buffer.from('x'), new Map()]],
      ['name', Buffer.from('ü')],
    ]),
  )
})
