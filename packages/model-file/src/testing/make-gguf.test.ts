import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createChunkHasher } from '../content/hash-file.ts'
import { extractFacts } from '../gguf/gguf-facts.ts'
import { readGgufFile } from '../gguf/gguf-file.ts'
import { writeGgufFile } from './make-gguf.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shoal-gguf-'))
})
afterAll(() => rm(folder, { recursive: true }))

async function hashChunks(path: string): Promise<string[]> {
  const bytes = await readFile(path)
  const hashes: string[] = []
  const hasher = createChunkHasher(bytes.length, (_, hash) => hashes.push(hash))
  hasher.update(bytes)
  hasher.digest()
  return hashes
}

test('a generated file has the requested size and a readable header', async () => {
  const path = join(folder, 'sized.gguf')
  for (const size of [65_536, 1_000_001, 70 * 1024 * 1024 + 3]) {
    await writeGgufFile(path, size)
    const header = await readGgufFile(path)
    const last = header.tensors.at(-1)
    expect(header.dataOffset + (last?.offset ?? 0) + (last?.sizeBytes ?? 0)).toBe(size)
    expect(extractFacts(header, 'sized.gguf').quantization).toBe('Q8_0')
  }
})

test('all chunks of a generated file differ and depend only on the seed', async () => {
  const [path, same, other] = ['a.gguf', 'b.gguf', 'c.gguf'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  const size = 48 * 1024 * 1024
  await writeGgufFile(path, size, 1)
  await writeGgufFile(same, size, 1)
  await writeGgufFile(other, size, 2)
  const hashes = await hashChunks(path)
  expect(new Set(hashes).size).toBe(3)
  expect(await hashChunks(same)).toEqual(hashes)
  expect(await hashChunks(other)).not.toEqual(hashes)
})
