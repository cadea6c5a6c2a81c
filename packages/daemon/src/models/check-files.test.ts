import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { findAtPath, importFile, listLocalFiles, readRecord } from '@shoal/transfer'
import { Ollama } from 'ollama'
import { expect, test } from 'vitest'
import { scriptedRuntime } from '../testing/scripted-runtime.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { shippedModels, useTestDaemon } from '../testing/test-daemon.ts'

const shipped = join(shippedModels, 'shoal-nano', 'shoal-nano-Q8_0.gguf')

/**
 * Creates a file in another program's folder. Like an Ollama blob, the file is named after its hash. Returns its path.
 */
function putBlob(folder: string): string {
  const bytes = readFileSync(shipped)
  const path = join(folder, `sha256-${createHash('sha256').update(bytes).digest('hex')}`)
  mkdirSync(folder, { recursive: true })
  copyFileSync(shipped, path)
  return path
}

async function importBlob(blob: string, modelsDirectory: string) {
  const { files } = await findAtPath(blob)
  const [file] = files
  if (!file) throw new Error('the blob is a model')
  return await importFile(file, { modelsDirectory, method: 'reference', name: 'foam' })
}

/** Waits until the background work has hashed the file. */
const untilHashed = (path: string) => expect.poll(() => readRecord(path)).toBeDefined()

test('an imported model is listed with its digest, can be run immediately, and is then hashed', async () => {
  using other = temporaryFolder()
  using models = temporaryFolder()
  const blob = putBlob(other.path)
  const { path } = await importBlob(blob, models.path)
  const { url } = await useTestDaemon({ modelsDirectory: models.path }, scriptedRuntime())
  const ollama = new Ollama({ host: url })
  const [listed] = (await ollama.list()).models
  expect(listed).toMatchObject({ name: 'foam:latest', digest: blob.slice(-64) })
  expect((await ollama.generate({ model: 'foam', prompt: 'Hello' })).done).toBe(true)
  await untilHashed(path)
  expect(await readRecord(path)).toMatchObject({
    sha256_hash: blob.slice(-64),
    without_peers: true,
  })
})

test('a file that has changed since it was hashed is hashed again before it is loaded', async () => {
  using other = temporaryFolder()
  using models = temporaryFolder()
  const blob = putBlob(other.path)
  const { path } = await importBlob(blob, models.path)
  const { url } = await useTestDaemon({ modelsDirectory: models.path }, scriptedRuntime())
  const ollama = new Ollama({ host: url })
  await untilHashed(path)
  // The new file has the same size and times, but a different inode and different bytes.
  const { atime, mtime } = statSync(blob)
  const bytes = readFileSync(blob)
  bytes.fill(0, bytes.length - 20)
  writeFileSync(`${blob}.new`, bytes)
  utimesSync(`${blob}.new`, atime, mtime)
  renameSync(`${blob}.new`, blob)
  const loading = ollama.generate({ model: 'foam', prompt: 'Hello' })
  await expect(loading).rejects.toMatchObject({
    status_code: 409,
    error: `model foam is damaged: ${path} does not have the expected hash`,
  })
  const [file] = await listLocalFiles(models.path)
  expect(file).toMatchObject({ isVerified: false, imported: { mismatch: {} } })
  copyFileSync(shipped, blob)
  expect((await ollama.generate({ model: 'foam', prompt: 'Hello' })).done).toBe(true)
})

test('if the original of an imported model is gone, the error contains its path', async () => {
  using other = temporaryFolder()
  using models = temporaryFolder()
  const blob = putBlob(other.path)
  await importBlob(blob, models.path)
  rmSync(blob)
  const { url } = await useTestDaemon({ modelsDirectory: models.path }, scriptedRuntime())
  const ollama = new Ollama({ host: url })
  await expect(ollama.generate({ model: 'foam', prompt: 'Hello' })).rejects.toMatchObject({
    error: `${blob} no longer exists`,
  })
})

test('deleting an imported model leaves the original', async () => {
  using other = temporaryFolder()
  using models = temporaryFolder()
  const blob = putBlob(other.path)
  await importBlob(blob, models.path)
  const { url } = await useTestDaemon({ modelsDirectory: models.path }, scriptedRuntime())
  await new Ollama({ host: url }).delete({ model: 'foam' })
  expect(existsSync(blob)).toBe(true)
  expect(await listLocalFiles(models.path)).toEqual([])
})
