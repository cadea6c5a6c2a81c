/** Tests that shoal never changes the bytes of files that other programs use too. */
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { registryClient } from '@shoal/protocol/client'
import { expect, test } from 'vitest'
import { getFilePaths } from '../disk/file-paths.ts'
import { listLocalFiles } from '../disk/list-local-files.ts'
import { readRecord } from '../disk/record.ts'
import { type PullScene, pullScene } from '../testing/pull-scene.ts'
import { relaxedTuning } from '../testing/quick-tuning.ts'
import { smallChunk, syntheticFile } from '../testing/synthetic-file.ts'
import { repairFile } from './repair-file.ts'
import { verifyFile } from './verify-file.ts'

const file = syntheticFile(6 * smallChunk + 345)

/** Moves the file to another program's folder, and makes `path` a hard link or symbolic link to it. */
async function shareBytes(scene: PullScene, makeLink: (target: string, path: string) => void) {
  const folder = join(scene.directory, '.ollama')
  const blob = join(folder, 'sha256-1234')
  mkdirSync(folder)
  await scene.pull()
  renameSync(scene.path, blob)
  makeLink(blob, scene.path)
  return blob
}

function damage(path: string, index: number) {
  const bytes = readFileSync(path)
  bytes.fill(0, index * smallChunk + 9, index * smallChunk + 20)
  writeFileSync(path, bytes)
}

const repair = ({ origin, path }: PullScene) =>
  repairFile({ client: registryClient({ baseUrl: origin.url }), path, tuning: relaxedTuning })

/** The state of a file as another program sees it, without the number of links, which does change. */
function look(path: string) {
  const { ino, size, mtimeMs, mode } = statSync(path)
  return { ino, size, mtimeMs, mode, bytes: readFileSync(path).toString('base64') }
}

test.each([
  ['a hard link', linkSync],
  ['a symbolic link', symlinkSync],
])(
  'repairing %s downloads only bad chunks, and leaves the other program’s file as it was',
  async (_, makeLink) => {
    const scene = await pullScene(file)
    const blob = await shareBytes(scene, makeLink)
    damage(blob, 2)
    chmodSync(blob, 0o444)
    const before = look(blob)
    const { repairedBytes } = await repair(scene)
    expect(repairedBytes).toBe(smallChunk)
    expect(look(blob)).toEqual(before)
    expect(readFileSync(scene.path).equals(file.bytes)).toBe(true)
    expect(lstatSync(scene.path)).toMatchObject({ nlink: 1 })
    expect(lstatSync(scene.path).ino).not.toBe(before.ino)
    expect(await verifyFile({ path: scene.path })).toMatchObject({ status: 'intact' })
    expect(existsSync(getFilePaths(scene.path).copy)).toBe(false)
  },
)

test('if the copy cannot be made, the damaged file keeps its name', async () => {
  const scene = await pullScene(file)
  const blob = await shareBytes(scene, linkSync)
  damage(blob, 2)
  mkdirSync(getFilePaths(scene.path).copy)
  await expect(repair(scene)).rejects.toThrow()
  expect(statSync(scene.path).ino).toBe(statSync(blob).ino)
})

test('a pull does not write to a partial file that has another hard link', async () => {
  const scene = await pullScene(file)
  scene.origin.script = ({ index }) => (index === 4 ? { status: 403 } : undefined)
  await expect(scene.pull()).rejects.toThrow()
  const backup = join(scene.directory, 'backup')
  linkSync(getFilePaths(scene.path).partial, backup)
  const before = look(backup)
  scene.origin.script = () => undefined
  expect((await scene.pull()).resumedBytes).toBeGreaterThan(0)
  expect(look(backup)).toEqual(before)
})

test('a file that another program replaced is not mistaken for the one that was hashed', async () => {
  const scene = await pullScene(file)
  const blob = await shareBytes(scene, symlinkSync)
  await scene.pull() // records the target's device and inode
  expect(await readRecord(scene.path)).toMatchObject({ inode: String(statSync(blob).ino) })
  const { atime, mtime } = statSync(blob)
  const [before] = await listLocalFiles(scene.directory)
  expect(before).toMatchObject({ isVerified: true, target: blob })
  writeFileSync(`${blob}.new`, file.bytes)
  utimesSync(`${blob}.new`, atime, mtime)
  renameSync(`${blob}.new`, blob)
  const [after] = await listLocalFiles(scene.directory)
  expect(after).toMatchObject({ isVerified: false })
})
