import { expect, test } from 'vitest'
import { hashBlob, hashChunkOfBlob } from '../hashing/hash-blob.ts'
import { findSources, type Job, type JobFile } from './job.ts'

const lastModified = 1_700_000_000_000
const makeFile = (text: string, name = 'tide.gguf', at = lastModified) =>
  new File([text], name, { lastModified: at })

async function jobFor(...files: File[]): Promise<Job> {
  const expected = files.map(async (file) => ({
    filename: file.name,
    sizeBytes: file.size,
    lastModified: file.lastModified,
    manifest: await hashBlob(file),
  }))
  const about = { modelName: 'tide', displayName: 'Tide', username: 'ana', newModel: undefined }
  return { ...about, files: await Promise.all(expected) }
}

test('the same file is recognized when it is chosen again', async () => {
  const sources = await findSources(
    await jobFor(makeFile('bytes')),
    [makeFile('bytes')],
    hashChunkOfBlob,
  )
  expect([...sources.keys()]).toEqual(['tide.gguf'])
})

test.each([
  [
    'a different size',
    makeFile('more bytes'),
    'tide.gguf has a different size than when the upload started.',
  ],
  [
    'a different modification time',
    makeFile('bytes', 'tide.gguf', 5),
    'tide.gguf has changed since the upload started.',
  ],
  [
    'different bytes',
    makeFile('bites'),
    'tide.gguf has different contents than when the upload started.',
  ],
  [
    'a different name',
    makeFile('bytes', 'tidal.gguf'),
    'tide.gguf is missing from the chosen files.',
  ],
])('a file with %s is refused', async (_, picked, reason) => {
  await expect(
    findSources(await jobFor(makeFile('bytes')), [picked], hashChunkOfBlob),
  ).rejects.toThrow(reason)
})

test('files that are already ready in the registry need not be chosen again', async () => {
  const job = await jobFor(makeFile('one', 'a.gguf'), makeFile('two', 'b.gguf'))
  const files = job.files.map((file) => ({ ...file, isReady: file.filename === 'a.gguf' }))
  const sources = await findSources({ ...job, files }, [makeFile('two', 'b.gguf')], hashChunkOfBlob)
  expect([...sources.keys()]).toEqual(['b.gguf'])
})

test('a file whose hashing was interrupted is recognized by its first chunk', async () => {
  const { files, ...about } = await jobFor(makeFile('bytes'))
  const [{ manifest, ...file }] = files as [JobFile]
  const partial = {
    bytesDone: 5,
    firstHash: manifest?.sha256_hash ?? '',
    chunkHashes: new Uint8Array(32),
    state: new Uint8Array(),
  }
  const job = { ...about, files: [{ ...file, partial }] }
  const sources = await findSources(job, [makeFile('bytes')], hashChunkOfBlob)
  expect([...sources.keys()]).toEqual(['tide.gguf'])
  const different = findSources(job, [makeFile('bites')], hashChunkOfBlob)
  await expect(different).rejects.toThrow('different contents')
})
