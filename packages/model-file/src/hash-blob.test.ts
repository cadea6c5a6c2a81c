import { randomBytes } from 'node:crypto'
import { afterEach, expect, test, vi } from 'vitest'
import { manifestOf } from './chunk-manifest.ts'
import { hashBlob, hashChunkOfBlob } from './hash-blob.ts'
import { createChunkHasher } from './hash-file.ts'

const chunk = 16 * 1024 * 1024
afterEach(() => vi.unstubAllGlobals())

function manifestByNode(bytes: Uint8Array) {
  const hasher = createChunkHasher(bytes.length)
  hasher.update(bytes)
  return manifestOf(hasher.digest())
}

test.each([1, 1000, chunk, chunk + 1, 2 * chunk + 12_345])(
  'a browser finds in %i bytes the hashes that the registry will find',
  async (length) => {
    const bytes = randomBytes(length)
    expect(manifestOf(await hashBlob(new Blob([bytes])))).toEqual(manifestByNode(bytes))
  },
)

test('without WebCrypto, as on plain HTTP, the hashes are the same', async () => {
  const bytes = randomBytes(chunk + 77)
  vi.stubGlobal('crypto', {})
  expect(manifestOf(await hashBlob(new Blob([bytes])))).toEqual(manifestByNode(bytes))
})

test('progress is told after each chunk and ends at the size of the file', async () => {
  const told: number[] = []
  await hashBlob(new Blob([new Uint8Array(2 * chunk + 5)]), (bytes) => told.push(bytes))
  expect(told).toEqual([chunk, 2 * chunk, 2 * chunk + 5])
})

test('one chunk can be hashed by itself', async () => {
  const bytes = randomBytes(chunk + 9)
  const { chunk_hashes } = manifestByNode(bytes)
  expect(await hashChunkOfBlob(new Blob([bytes]), 1)).toBe(chunk_hashes[1]?.hash)
})
