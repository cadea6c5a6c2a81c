/**
 * Number of bytes at the beginning of the key stream that MSE discards, because they reveal information about the key.
 */
const discarded = 1024

export type Cipher = (bytes: Uint8Array) => Buffer

/**
 * Returns an RC4 cipher with this key, as MSE uses it. OpenSSL 3 no longer provides RC4 by default. RC4 hides traffic
 * from traffic classifiers, but not from eavesdroppers.
 */
export function rc4(key: Uint8Array): Cipher {
  const state = Uint8Array.from({ length: 256 }, (_, index) => index)
  const at = (index: number) => state[index & 255] as number
  const swap = (a: number, b: number) => {
    const kept = at(a)
    state[a] = at(b)
    state[b] = kept
  }
  for (let i = 0, j = 0; i < 256; i += 1) {
    j = (j + at(i) + (key[i % key.length] as number)) & 255
    swap(i, j)
  }
  let i = 0
  let j = 0
  const next = () => {
    i = (i + 1) & 255
    j = (j + at(i)) & 255
    swap(i, j)
    return at(at(i) + at(j))
  }
  for (let count = 0; count < discarded; count += 1) next()
  return (bytes) => {
    const result = Buffer.alloc(bytes.length)
    for (const [index, byte] of bytes.entries()) result[index] = byte ^ next()
    return result
  }
}
