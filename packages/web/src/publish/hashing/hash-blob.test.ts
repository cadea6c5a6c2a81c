import { createHash, randomBytes } from 'node:crypto'
import { type ChunkHash, createChunkHasher, makeManifest } from '@shoal/model-file'
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { hashBlob, hashChunkOfBlob } from './hash-blob.ts'
import type { PartialHash } from './partial-hash.ts'

const chunk = 16 * 1024 * 1024
afterEach(() => vi.unstubAllGlobals())

function manifestByNode(bytes: Uint8Array) {
  const hasher = createChunkHasher(bytes.length)
  hasher.update(bytes)
  return makeManifest(hasher.digest())
}

test.each([1, 1000, chunk, chunk + 1, 2 * chunk + 12_345])(
  'a browser and the registry compute the same hashes of %i bytes',
  async (length) => {
    const bytes = randomBytes(length)
    expect(await hashBlob(new Blob([bytes]))).toEqual(manifestByNode(bytes))
  },
)

describe('without WebCrypto, as on plain HTTP,', () => {
  beforeEach(() => void vi.stubGlobal('crypto', {}))
  afterEach(() => void vi.unstubAllGlobals())

  test('the hashes of a file are the same as those computed by the registry', async () => {
    const bytes = randomBytes(chunk + 77)
    expect(await hashBlob(new Blob([bytes]))).toEqual(manifestByNode(bytes))
  })

  /** Examples from FIPS 180-4 and from NIST's Secure Hash Standard Validation System. */
  test.each([
    ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
    [
      'abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq',
      '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
    ],
    [
      'abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu',
      'cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1',
    ],
    ['a'.repeat(1e6), 'cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0'],
  ])('the SHA-256 of “%.60s” is correct', async (message, expected) => {
    expect(await hashChunkOfBlob(new Blob([message]), 0)).toBe(expected)
  })

  test('messages of 1 to 260 bytes have the same hashes as in Node.js', async () => {
    const bytes = randomBytes(260)
    for (let length = 1; length <= bytes.length; length += 1) {
      const message = bytes.subarray(0, length)
      const expected = createHash('sha256').update(message).digest('hex')
      expect(await hashChunkOfBlob(new Blob([message]), 0)).toBe(expected)
    }
  })
})

test('the hash of a file that was hashed in chunks is correct', async () => {
  const bytes = randomBytes(2 * chunk + 4321)
  const { sha256_hash } = await hashBlob(new Blob([bytes]))
  expect(sha256_hash).toBe(createHash('sha256').update(bytes).digest('hex'))
})

test('progress is reported after each chunk, up to the file size', async () => {
  const reported: number[] = []
  await hashBlob(new Blob([new Uint8Array(2 * chunk + 5)]), {
    onProgress: (bytes) => reported.push(bytes),
  })
  expect(reported).toEqual([chunk, 2 * chunk, 2 * chunk + 5])
})

test('a single chunk can be hashed', async () => {
  const bytes = randomBytes(chunk + 9)
  const { chunk_hashes } = manifestByNode(bytes)
  expect(await hashChunkOfBlob(new Blob([bytes]), 1)).toBe(chunk_hashes[1]?.hash)
})

describe('hashing a file whose first chunks were hashed before', () => {
  const bytes = randomBytes(2 * chunk + 4321)
  const partials: PartialHash[] = []
  beforeAll(async () => {
    await hashBlob(new Blob([bytes]), {
      onProgress(_, save) {
        const partial = save()
        if (partial) partials.push(partial)
      },
    })
  })

  test.each([1, 2, 3])('continues after %i of 3 chunks', async (count) => {
    const from = structuredClone(partials[count - 1])
    const reported: number[] = []
    // The first chunk is zeroed, so the hashes are correct only if that chunk is not read again.
    const file = new Blob([new Uint8Array(chunk), bytes.subarray(chunk)])
    const chunks: ChunkHash[] = []
    const hashed = await hashBlob(file, {
      from,
      onProgress: (done) => reported.push(done),
      onChunk: (chunk) => chunks.push(chunk),
    })
    expect(hashed).toEqual(manifestByNode(bytes))
    expect(chunks).toEqual(hashed.chunk_hashes)
    expect(reported).toEqual([chunk, 2 * chunk, bytes.length].slice(count))
  })

  test('continues from a known number of bytes', () => {
    expect(partials.map(({ bytesDone }) => bytesDone)).toEqual([chunk, 2 * chunk, bytes.length])
    const { chunk_hashes } = manifestByNode(bytes)
    expect(partials.map(({ firstHash }) => firstHash)).toEqual(
      partials.map(() => chunk_hashes[0]?.hash),
    )
  })

  test('starts over if another version of the library saved the state', async () => {
    const [partial] = partials as [PartialHash]
    const state = Uint8Array.from(partial.state, (byte) => byte ^ 0xff)
    const reported: number[] = []
    const options = {
      from: { ...partial, state },
      onProgress: (done: number) => reported.push(done),
    }
    expect(await hashBlob(new Blob([bytes]), options)).toEqual(manifestByNode(bytes))
    expect(reported).toEqual([chunk, 2 * chunk, bytes.length])
  })
})
