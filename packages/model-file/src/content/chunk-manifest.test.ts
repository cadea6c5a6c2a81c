import { mebibyte } from '@shoal/core/units'
import { expect, test } from 'vitest'
import {
  type ChunkManifest,
  makeManifest,
  manifestProblem,
  packHashes,
  unpackHashes,
} from './chunk-manifest.ts'

const fileSizeBytes = 40 * mebibyte
const hash = (digit: string) => digit.repeat(64)

const good: ChunkManifest = {
  file_size_bytes: fileSizeBytes,
  chunk_size: 16 * mebibyte,
  sha256_hash: hash('f'),
  chunk_hashes: [
    { index: 0, hash: hash('0'), size: 16 * mebibyte },
    { index: 1, hash: hash('1'), size: 16 * mebibyte },
    { index: 2, hash: hash('a'), size: 8 * mebibyte },
  ],
}
const [first, second, last] = good.chunk_hashes as [
  ChunkManifest['chunk_hashes'][0],
  ChunkManifest['chunk_hashes'][0],
  ChunkManifest['chunk_hashes'][0],
]

test('hashes are packed into 32 bytes each and unpacked without loss', () => {
  const packed = packHashes(good.chunk_hashes)
  expect(packed).toHaveLength(96)
  expect(unpackHashes(packed, fileSizeBytes)).toEqual(good.chunk_hashes)
  expect(() => unpackHashes(packed.subarray(1), fileSizeBytes)).toThrow(RangeError)
})

test('the result of a hasher can be converted into a valid manifest', () => {
  const manifest = makeManifest({
    fileSizeBytes,
    sha256_hash: hash('f'),
    chunkSize: 16 * mebibyte,
    chunkHashes: packHashes(good.chunk_hashes),
  })
  expect(manifest).toEqual(good)
  expect(manifestProblem(manifest)).toBeUndefined()
})

test.for<[string, Partial<ChunkManifest>]>([
  ['file_size_bytes is 0; it must be an integer greater than 0', { file_size_bytes: 0 }],
  [
    'chunk_size is 1048576; it must be 16777216 for a file of 41943040 bytes',
    { chunk_size: mebibyte },
  ],
  ['sha256_hash is not 64 lowercase hexadecimal digits', { sha256_hash: hash('F') }],
  ['the number of chunk hashes is 2; it must be 3', { chunk_hashes: [first, second] }],
  ['chunk 0 is at position 1', { chunk_hashes: [first, first, last] }],
  [
    'chunk 2 has 8388607 bytes, not 8388608',
    { chunk_hashes: [first, second, { ...last, size: 8388607 }] },
  ],
  [
    'the hash of chunk 1 is not 64 lowercase hexadecimal digits',
    { chunk_hashes: [first, { ...second, hash: 'abc' }, last] },
  ],
])('an inconsistent manifest is reported: %s', ([problem, change]) => {
  expect(manifestProblem({ ...good, ...change })).toBe(problem)
})

test('the only chunk of a small file has the hash of the file', () => {
  const small = { file_size_bytes: 5, chunk_size: 16 * mebibyte, sha256_hash: hash('f') }
  const withHash = (digit: string) => ({
    ...small,
    chunk_hashes: [{ index: 0, hash: hash(digit), size: 5 }],
  })
  expect(manifestProblem(withHash('f'))).toBeUndefined()
  expect(manifestProblem(withHash('e'))).toBe(
    'the hash of the only chunk is not the hash of the file',
  )
})
