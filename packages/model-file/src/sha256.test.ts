import { createHash, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { toHex } from './hex.ts'
import { Sha256 } from './sha256.ts'

const text = new TextEncoder()
const hashOf = (...parts: Uint8Array[]) => {
  const hash = new Sha256()
  for (const part of parts) hash.update(part)
  return toHex(hash.digest())
}

/** FIPS 180-4's examples and those of NIST's Secure Hash Standard Validation System. */
const vectors = [
  ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
  ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
  [
    'abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq',
    '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
  ],
  [
    'abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu',
    'cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1',
  ],
] as const

test.each(vectors)('SHA-256 of “%s” is what the standard says', (message, expected) => {
  expect(hashOf(text.encode(message))).toBe(expected)
})

test('SHA-256 of a million times “a” is what the standard says', () => {
  const thousand = text.encode('a'.repeat(1000))
  expect(hashOf(...Array.from({ length: 1000 }, () => thousand))).toBe(
    'cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0',
  )
})

test('messages of every length near the ends of blocks hash as they do with Node', () => {
  const bytes = randomBytes(260)
  for (let length = 0; length <= bytes.length; length += 1) {
    const message = bytes.subarray(0, length)
    expect(hashOf(message)).toBe(createHash('sha256').update(message).digest('hex'))
  }
})

test('it does not matter how a message is cut', () => {
  const bytes = randomBytes(1000)
  const whole = createHash('sha256').update(bytes).digest('hex')
  for (const length of [1, 7, 63, 64, 65, 127, 128, 500, 1000]) {
    const parts: Uint8Array[] = []
    for (let at = 0; at < bytes.length; at += length) parts.push(bytes.subarray(at, at + length))
    expect(hashOf(...parts)).toBe(whole)
  }
})
