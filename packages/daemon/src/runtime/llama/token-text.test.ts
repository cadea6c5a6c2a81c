import { expect, test } from 'vitest'
import { tokenText } from './token-text.ts'

/** Treats each byte as one token. */
const detokenize = (tokens: number[]) => new TextDecoder().decode(Uint8Array.from(tokens))

test('a character is output with its last byte', () => {
  const text = tokenText(detokenize)
  const bytes = [...Buffer.from('aé€😀b')]
  const given = bytes.map((byte) => text.take(byte))
  expect(given).toEqual(['a', '', 'é', '', '', '€', '', '', '', '😀', 'b'])
  expect(text.finish()).toBe('')
})

test('an incomplete character becomes a replacement character, and does not delay other text', () => {
  const text = tokenText(detokenize)
  expect([0xe2, 0x82].map((byte) => text.take(byte))).toEqual(['', ''])
  expect(text.finish()).toBe('\ufffd')
  const broken = tokenText(detokenize)
  const given = [0xff, 0xff, 0xff, 0xff, 0x61].map((byte) => broken.take(byte))
  expect(given).toEqual(['', '', '', '\ufffd\ufffd\ufffd\ufffd', 'a'])
})
