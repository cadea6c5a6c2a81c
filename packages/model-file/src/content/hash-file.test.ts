import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mebibyte } from '@shoal/core/units'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { writeGgufFile } from '../testing/make-gguf.ts'
import { makeManifest, manifestProblem } from './chunk-manifest.ts'
import { createChunkHasher, createFileHasher } from './hash-file.ts'
import { hashFileInWorker, hashFileWithPiecesInWorker } from './hash-in-worker.ts'

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const toHex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

/** Returns the hashes of consecutive segments, computed in the simplest way. */
function segmentHashes(algorithm: string, bytes: Uint8Array, size: number): string {
  let hashes = ''
  for (let start = 0; start < bytes.length; start += size) {
    hashes += createHash(algorithm)
      .update(bytes.subarray(start, start + size))
      .digest('hex')
  }
  return hashes
}

let folder: string
let path: string
let file: Uint8Array
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shoal-hash-'))
  path = join(folder, 'three-chunks.gguf')
  await writeGgufFile(path, 33 * mebibyte + 5)
  file = await readFile(path)
})
afterAll(() => rm(folder, { recursive: true }))

test('one pass computes the hashes of the file, its chunks and its pieces, regardless of how the stream is divided', () => {
  const chunkHashes: string[] = []
  const hasher = createFileHasher(file.length, (index, hash) => {
    chunkHashes[index] = hash
  })
  for (let start = 0; start < file.length; ) {
    const size = 1 + ((start * 7919) % 3_000_001)
    hasher.update(file.subarray(start, start + size))
    start += size
  }
  const found = hasher.digest()
  expect(found.sha256_hash).toBe(sha256(file))
  expect(toHex(found.chunkHashes)).toBe(segmentHashes('sha256', file, 16 * mebibyte))
  expect(toHex(found.pieceHashes)).toBe(segmentHashes('sha1', file, mebibyte))
  expect(chunkHashes.join('')).toBe(toHex(found.chunkHashes))
  expect(manifestProblem(makeManifest(found))).toBeUndefined()
})

test('the hash of a one-chunk file is the hash of its chunk', () => {
  const hasher = createChunkHasher(3)
  hasher.update(Buffer.from('abc'))
  expect(hasher.digest().sha256_hash).toBe(sha256(Buffer.from('abc')))
})

test('a stream whose length differs from the declared size is rejected', () => {
  const hasher = createChunkHasher(4)
  hasher.update(Buffer.from('abc'))
  expect(() => hasher.digest()).toThrow('hashed 3 bytes, but the file has 4')
})

test('threads compute the same hashes as one pass', async () => {
  const hasher = createFileHasher(file.length)
  hasher.update(file)
  const { pieceHashes, pieceLength, ...chunks } = hasher.digest()
  expect(await hashFileInWorker(path)).toEqual(chunks)
  expect(await hashFileWithPiecesInWorker(path)).toEqual({ ...chunks, pieceHashes, pieceLength })
})

test('the hashes of a file with only one chunk are correct', async () => {
  const small = join(folder, 'small')
  await writeFile(small, 'abc')
  const { pieceHashes, ...hashes } = await hashFileWithPiecesInWorker(small)
  expect(hashes).toMatchObject({ ...(await hashFileInWorker(small)), pieceLength: mebibyte })
  expect(hashes.sha256_hash).toBe(sha256(Buffer.from('abc')))
  expect(toHex(pieceHashes)).toBe(segmentHashes('sha1', Buffer.from('abc'), mebibyte))
})

test('progress grows to the size of the file', async () => {
  const progress: number[] = []
  await hashFileInWorker(path, { onProgress: (hashedBytes) => progress.push(hashedBytes) })
  expect(progress).toEqual(progress.toSorted((a, b) => a - b))
  expect(progress.at(-1)).toBe(file.length)
})

test('hashing can be aborted', async () => {
  const abort = new AbortController()
  const hashing = hashFileInWorker(path, { signal: abort.signal })
  abort.abort()
  await expect(hashing).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }))
})

test('a missing or empty file is an error, and so is one that shrinks while being hashed', async () => {
  await expect(hashFileInWorker(join(folder, 'missing'))).rejects.toThrow('ENOENT')
  const empty = join(folder, 'empty')
  await writeFile(empty, '')
  await expect(hashFileInWorker(empty)).rejects.toThrow('is empty')

  const shrinking = join(folder, 'shrinking.gguf')
  await writeFile(shrinking, '')
  await truncate(shrinking, 4096 * mebibyte) // sparse; on a busy machine, much is hashed before the first event
  const hashing = hashFileInWorker(shrinking, { onProgress: () => truncate(shrinking, 100) })
  await expect(hashing).rejects.toThrow('while it was being hashed')
})
