import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { getFilePaths } from '../disk/file-paths.ts'
import { listLocalFiles } from '../disk/list-local-files.ts'
import { readRecord } from '../disk/record.ts'
import { sameFilesIn } from '../disk/reuse-file.ts'
import { startChildPull } from '../testing/child-pull.ts'
import { filterEvents, pullScene } from '../testing/pull-scene.ts'
import { quickTuning } from '../testing/quick-tuning.ts'
import { mebibyte, smallChunk, syntheticFile, toModelFile } from '../testing/synthetic-file.ts'

const file = syntheticFile(12 * smallChunk + 345)
const oneChunk = syntheticFile(5 * smallChunk, 16 * smallChunk)
const fewChunks = syntheticFile(2 * smallChunk + 1)

test.each([
  ['a file of many chunks (pulled in threads)', file],
  ['a file of few chunks (pulled in this thread)', fewChunks],
  ['a file of one chunk', oneChunk],
])('after a pull, %s is complete, and no temporary files are left', async (_, given) => {
  const { pull, path, origin } = await pullScene(given)
  const pulled = await pull({ tuning: { ...quickTuning, inlineChunks: 4 } })
  expect(readFileSync(path).equals(given.bytes)).toBe(true)
  expect(pulled).toEqual({
    path,
    sha256_hash: given.sha256,
    fileSizeBytes: given.bytes.length,
    resumedBytes: 0,
    downloadedBytes: given.bytes.length,
    wastedBytes: 0,
    sources: [{ name: new URL(origin.url).host, bytes: given.bytes.length, isPeer: false }],
    droppedChunks: [],
    alreadyThere: false,
  })
  expect(origin.downloads).toBe(1)
  const { partial, journal } = getFilePaths(path)
  expect([partial, journal].filter(existsSync)).toEqual([])
})

test('a record of the file is saved beside it', async () => {
  const { pull, path, origin } = await pullScene(file)
  await pull()
  const record = await readRecord(path)
  expect(record).toMatchObject({
    registry: origin.url,
    model_name: 'tiny',
    filename: 'model.gguf',
    quantization: 'Q8_0',
    sha256_hash: file.sha256,
    file_size_bytes: file.bytes.length,
    chunk_size: smallChunk,
  })
  const hashes = Buffer.from(record?.chunk_hashes ?? '', 'base64').toString('hex')
  expect(hashes).toBe(file.chunks.map(({ hash }) => hash).join(''))
})

test('progress never decreases and ends with all bytes, followed by verifying and done', async () => {
  const { pull, events } = await pullScene(file)
  await pull()
  const counts = filterEvents(events, 'progress').map(({ bytesDone }) => bytesDone)
  expect(counts).toEqual(counts.toSorted((one, other) => one - other))
  expect(counts.at(-1)).toBe(file.bytes.length)
  expect(events.slice(-2).map(({ type }) => type)).toEqual(['verifying', 'done'])
})

test('the bytes are requested without credentials', async () => {
  const { pull, origin } = await pullScene(file)
  origin.script = ({ way }) => (way === 'direct' ? { status: 403 } : undefined)
  await pull()
  expect(origin.requests.map(({ authorization }) => authorization)).toEqual(
    origin.requests.map(() => undefined),
  )
})

test('a file that already exists is neither downloaded again nor counted as a download', async () => {
  const { pull, origin, events } = await pullScene(file)
  await pull()
  events.length = 0
  const again = await pull()
  expect(again).toMatchObject({ alreadyThere: true, downloadedBytes: 0 })
  expect(origin.downloads).toBe(1)
  expect(events).toEqual([{ type: 'done' }])
})

test('a file that already exists needs no lock', async () => {
  const { pull, path } = await pullScene(file)
  await pull()
  const { lock } = getFilePaths(path)
  rmSync(lock)
  mkdirSync(lock) // cannot be locked
  expect(await pull()).toMatchObject({ alreadyThere: true })
  await expect(pull({ isShared: false })).rejects.toThrow()
})

test('a file with the same SHA-256 is used in place of a download, unless it has changed', async () => {
  const { pull, path, origin, directory } = await pullScene(file)
  await pull()
  const [second, third] = ['second', 'third'].map((name) =>
    join(directory, name, 'model.gguf'),
  ) as [string, string]
  const again = await pull({ path: second, findSame: sameFilesIn(directory) })
  expect(again).toMatchObject({ alreadyThere: false, downloadedBytes: 0, reusedFrom: path })
  expect(origin.downloads).toBe(1)
  expect(readFileSync(second).equals(file.bytes)).toBe(true)
  expect(await readRecord(second)).toMatchObject({ sha256_hash: file.sha256, model_name: 'tiny' })
  expect((await listLocalFiles(directory)).map(({ isVerified }) => isVerified)).toEqual([
    true,
    true,
  ])
  for (const one of [path, second]) {
    rmSync(one)
    writeFileSync(one, Buffer.alloc(file.bytes.length))
  }
  expect(await pull({ path: third, findSame: sameFilesIn(directory) })).toMatchObject({
    reusedFrom: undefined,
  })
  expect(readFileSync(third).equals(file.bytes)).toBe(true)
  expect(readdirSync(join(directory, 'third'))).toEqual(['.shoal', 'model.gguf'])
})

test('an identical file from elsewhere is kept and gets a record', async () => {
  const standard = syntheticFile(17 * mebibyte, 16 * mebibyte)
  const { pull, path, origin } = await pullScene(standard)
  mkdirSync(dirname(path))
  writeFileSync(path, standard.bytes)
  expect(await pull()).toMatchObject({ alreadyThere: true })
  expect(await readRecord(path)).toMatchObject({ sha256_hash: standard.sha256 })
  expect(origin.requests).toEqual([])
})

test('a different file with the same name is never overwritten', async () => {
  const { pull, path } = await pullScene(file)
  mkdirSync(dirname(path))
  writeFileSync(path, 'my own notes')
  await expect(pull()).rejects.toMatchObject({ code: 'file_in_the_way' })
  expect(readFileSync(path, 'utf8')).toBe('my own notes')

  const sameSize = Buffer.alloc(file.bytes.length)
  writeFileSync(path, sameSize)
  await expect(pull()).rejects.toThrow('its SHA-256 differs')
  expect(readFileSync(path).equals(sameSize)).toBe(true)
})

test('a pulled file that has changed since is reported as damaged', async () => {
  const { pull, path } = await pullScene(file)
  await pull()
  const changed = Buffer.from(file.bytes)
  changed[7] = 0
  writeFileSync(path, changed)
  utimesSync(path, new Date(), new Date())
  await expect(pull()).rejects.toMatchObject({ code: 'damaged_file' })
})

test('a manifest for a different file is rejected', async () => {
  const { pull } = await pullScene(file)
  const other = { ...toModelFile(file), sha256_hash: 'f'.repeat(64) }
  await expect(pull({ file: other })).rejects.toThrow('has changed on the registry')
})

test('the rate limit applies to all connections together', async () => {
  const { pull } = await pullScene(file)
  const startedAt = performance.now()
  await pull({ rateLimit: 12 * smallChunk })
  // The file is slightly larger than what the limit allows in a second. A busy machine can only make the pull take
  // longer.
  expect(performance.now() - startedAt).toBeGreaterThan(900)
})

test('a canceled pull rejects with the reason and keeps its partial file', async () => {
  const { pull, path, origin, events } = await pullScene(file)
  origin.script = () => ({ bytesPerSecond: smallChunk })
  const abort = new AbortController()
  const reason = new Error('the user pressed Ctrl-C')
  const isMoving = () => filterEvents(events, 'progress').some(({ bytesDone }) => bytesDone > 0)
  const timer = setInterval(() => isMoving() && abort.abort(reason), 10)
  await expect(pull({ signal: abort.signal })).rejects.toBe(reason)
  clearInterval(timer)
  expect(existsSync(getFilePaths(path).partial)).toBe(true)
  expect(existsSync(path)).toBe(false)
})

test('after a canceled pull, nothing keeps the process running', async () => {
  const scene = await pullScene(file)
  scene.origin.script = () => ({ bytesPerSecond: smallChunk })
  const child = startChildPull(scene, file)
  await child.until((line) => line.type === 'progress' && line.bytesDone > 0)
  child.process.kill('SIGINT')
  expect(await child.exit).toBe(0)
  expect(child.lines.at(-1)).toEqual({ type: 'failed', message: 'stopped by SIGINT' })
})
