import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { unfinishedPath } from '@shoal/files'
import { registryClient } from '@shoal/protocol/client'
import { expect, test } from 'vitest'
import { getFilePaths } from '../disk/file-paths.ts'
import { listLocalFiles, type Unreadable } from '../disk/list-local-files.ts'
import { claimFolder } from '../disk/model-folder.ts'
import { writePreset } from '../disk/preset.ts'
import { filterEvents, type PullScene, pullScene } from '../testing/pull-scene.ts'
import { relaxedTuning } from '../testing/quick-tuning.ts'
import { smallChunk, syntheticFile } from '../testing/synthetic-file.ts'
import { copyLocalFile } from './copy-local-file.ts'
import { removeLocalFiles } from './remove-local-files.ts'
import { repairFile } from './repair-file.ts'
import { verifyFile } from './verify-file.ts'

const file = syntheticFile(12 * smallChunk + 345)

function damage(path: string, ...chunks: number[]) {
  const bytes = readFileSync(path)
  for (const index of chunks) bytes.fill(0, index * smallChunk + 9, index * smallChunk + 20)
  writeFileSync(path, bytes)
}

function repair({ origin, path, events }: PullScene, signal?: AbortSignal) {
  return repairFile({
    client: registryClient({ baseUrl: origin.url }),
    path,
    signal,
    tuning: relaxedTuning,
    onEvent: (event) => events.push(event),
  })
}

test('verifying a file that has just been pulled reports that it is intact', async () => {
  const { pull, path } = await pullScene(file)
  await pull()
  const seen: number[] = []
  const onProgress = ({ bytesDone }: { bytesDone: number }) => seen.push(bytesDone)
  expect(await verifyFile({ path, onProgress })).toMatchObject({ status: 'intact' })
  expect(seen.at(-1)).toBe(file.bytes.length)
})

test('the bad chunks of a damaged file are listed', async () => {
  const { pull, path } = await pullScene(file)
  await pull()
  damage(path, 9, 2)
  expect(await verifyFile({ path })).toMatchObject({ status: 'damaged', badChunks: [2, 9] })
})

test('a file that is shorter or longer than recorded is damaged', async () => {
  const { pull, path } = await pullScene(file)
  await pull()
  truncateSync(path, 11 * smallChunk)
  expect(await verifyFile({ path })).toMatchObject({ badChunks: [11, 12] })
  writeFileSync(path, Buffer.concat([file.bytes, Buffer.from('more')]))
  const sizeBytes = file.bytes.length + 4
  expect(await verifyFile({ path })).toMatchObject({ status: 'damaged', badChunks: [], sizeBytes })
})

test('a file without a record cannot be verified', async () => {
  const { path } = await pullScene(file)
  mkdirSync(dirname(path))
  writeFileSync(path, 'anything')
  expect(await verifyFile({ path })).toEqual({ status: 'no-record' })
})

test('repair downloads only the bad chunks', async () => {
  const scene = await pullScene(file)
  await scene.pull()
  damage(scene.path, 9, 2)
  scene.origin.requests.length = 0
  const { repairedBytes } = await repair(scene)
  expect(repairedBytes).toBe(2 * smallChunk)
  expect(readFileSync(scene.path).equals(file.bytes)).toBe(true)
  expect(scene.origin.requests.map(({ index }) => index).sort()).toEqual([2, 9])
  expect(await verifyFile({ path: scene.path })).toMatchObject({ status: 'intact' })
})

test('an interrupted repair leaves a partial file, which a pull finishes', async () => {
  const scene = await pullScene(file)
  await scene.pull()
  damage(scene.path, 9, 2)
  scene.origin.script = () => ({ stallAfter: 1000 })
  const abort = new AbortController()
  const timer = setInterval(() => {
    if (filterEvents(scene.events, 'resumed').length > 0) abort.abort()
  }, 10)
  await expect(repair(scene, abort.signal)).rejects.toThrow()
  clearInterval(timer)
  expect(existsSync(scene.path)).toBe(false)
  scene.origin.script = () => undefined
  expect(await scene.pull()).toMatchObject({ alreadyThere: false })
  expect(readFileSync(scene.path).equals(file.bytes)).toBe(true)
})

test('a damaged file keeps its name if its registry fails', async () => {
  const scene = await pullScene(file)
  await scene.pull()
  damage(scene.path, 2)
  scene.origin.outage = { status: 500 }
  await expect(repair(scene)).rejects.toThrow()
  expect(existsSync(scene.path)).toBe(true)
})

test('a file without a record cannot be repaired', async () => {
  const scene = await pullScene(file)
  await expect(repair(scene)).rejects.toMatchObject({ code: 'no_record' })
})

test('finished, partial and foreign files are listed', async () => {
  const { pull, path, directory, origin } = await pullScene(file)
  await pull()
  writeFileSync(join(dirname(path), 'FOREIGN.GGUF'), 'abc')
  writeFileSync(join(dirname(path), '._foreign.gguf'), 'metadata of macOS')
  writeFileSync(join(dirname(path), 'README.md'), 'not a model')
  const unfinished = join(directory, 'other', 'half.gguf')
  origin.script = ({ index }) => (index === 12 ? { status: 403 } : undefined)
  await expect(pull({ path: unfinished })).rejects.toThrow()
  const files = await listLocalFiles(directory)
  const { length } = file.bytes
  expect(files).toMatchObject([
    { modelName: 'other', filename: 'half.gguf', isFinished: false, fileSizeBytes: length },
    { modelName: 'tiny', filename: 'FOREIGN.GGUF', isFinished: true, record: undefined },
    { modelName: 'tiny', filename: 'model.gguf', isFinished: true, bytesHere: length },
  ])
  expect(files[0]).toMatchObject({ path: unfinished, bytesHere: 12 * smallChunk })
  expect(files[2]?.record?.sha256_hash).toBe(file.sha256)
  expect(await listLocalFiles(join(directory, 'nowhere'))).toEqual([])
})

test('unreadable entries are reported, and all others are listed', async () => {
  const { pull, path, directory } = await pullScene(file)
  await pull()
  const folder = dirname(path)
  symlinkSync('loop', join(directory, 'loop'))
  symlinkSync('self.gguf', join(folder, 'self.gguf'))
  symlinkSync('nowhere', join(folder, 'gone.gguf'))
  mkdirSync(join(folder, 'folder.gguf'))
  for (const name of ['pipe.gguf', 'pipe.gguf.part']) execFileSync('mkfifo', [join(folder, name)])
  const reported: Unreadable[] = []
  const files = await listLocalFiles(directory, (unreadable) => reported.push(unreadable))
  expect(files.map(({ filename }) => filename)).toEqual(['model.gguf'])
  const loop = 'it is part of a loop of links'
  expect(reported).toEqual([
    { path: join(directory, 'loop'), why: loop },
    { path: join(folder, 'folder.gguf'), why: 'not a regular file' },
    { path: join(folder, 'pipe.gguf'), why: 'not a regular file' },
    { path: join(folder, 'pipe.gguf.part'), why: 'not a regular file' },
    { path: join(folder, 'self.gguf'), why: loop },
  ])
})

test('removing a file also removes all related files and empty folders', async () => {
  const { pull, path, directory } = await pullScene(file)
  await pull()
  await writePreset(dirname(path), { system: 'Be short.' })
  const { freedBytes } = await removeLocalFiles(directory, [path])
  expect(freedBytes).toBeGreaterThanOrEqual(file.bytes.length)
  expect(existsSync(dirname(path))).toBe(false)
  expect(existsSync(directory)).toBe(true)
})

test('a file with the longest possible name is pulled, verified and removed', async () => {
  const { pull, directory } = await pullScene(file)
  const path = join(directory, 'tiny', `${'a'.repeat(241)}.gguf`)
  await pull({ path })
  expect(await listLocalFiles(directory)).toMatchObject([{ path, isVerified: true }])
  await removeLocalFiles(directory, [path])
  expect(readdirSync(directory)).toEqual([])
})

test('an unfinished claim or record that a killed process has left is removed', async () => {
  const { pull, path, directory } = await pullScene(file)
  await pull()
  const claim = join(dirname(getFilePaths(path).record), 'model.json')
  const owner = { source: 'http://localhost:8000', model: 'surf' }
  const leave = (place: string) => {
    const left = unfinishedPath(place)
    writeFileSync(left, '{')
    return left
  }
  const old = leave(claim)
  utimesSync(old, 0, 0)
  const name = basename(dirname(path))
  await claimFolder({ modelsDirectory: directory, name, host: 'localhost:8000', owner })
  expect(existsSync(old)).toBe(false)

  leave(claim)
  leave(getFilePaths(path).record)
  await removeLocalFiles(directory, [path])
  expect(existsSync(dirname(path))).toBe(false)
})

test('a file that is being pulled is not removed', async () => {
  const { pull, path, directory, origin } = await pullScene(file)
  origin.script = () => ({ stallAfter: 1000 })
  const abort = new AbortController()
  const pulling = pull({ signal: abort.signal }).catch((error) => error)
  await expect.poll(() => existsSync(getFilePaths(path).partial)).toBe(true)
  await expect(removeLocalFiles(directory, [path])).rejects.toMatchObject({ code: 'file_busy' })
  abort.abort()
  await pulling
  await removeLocalFiles(directory, [path])
  expect(existsSync(getFilePaths(path).partial)).toBe(false)
})

test('a copy takes no disk space, has a record, and outlives the original', async () => {
  const { pull, path, directory } = await pullScene(file)
  await pull()
  const target = join(directory, 'copy', 'model.gguf')
  await copyLocalFile(path, target)
  expect(statSync(target).ino).toBe(statSync(path).ino)
  await removeLocalFiles(directory, [path])
  expect(await verifyFile({ path: target })).toMatchObject({ status: 'intact' })
})

test('a copy does not overwrite an existing file', async () => {
  const { pull, path, directory } = await pullScene(file)
  await pull()
  const target = join(directory, 'model.gguf')
  writeFileSync(target, 'something else')
  const refusal = 'already exists and will not be overwritten'
  await expect(copyLocalFile(path, target)).rejects.toThrow(refusal)
  expect(readFileSync(target, 'utf8')).toBe('something else')
})
