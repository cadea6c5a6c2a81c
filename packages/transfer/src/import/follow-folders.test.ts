import {
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readImportRecord } from '../disk/import-record.ts'
import type { Unreadable } from '../disk/list-local-files.ts'
import { readRecord } from '../disk/record.ts'
import { checkImport } from './check-import.ts'
import { findAtPath } from './find-folder.ts'
import { listModelFiles } from './follow-folders.ts'
import { importFile } from './import-file.ts'
import { listGgufFiles } from './list-gguf-files.ts'

const shipped = join(import.meta.dirname, '../../../../models')
const nano = join(shipped, 'shoal-nano/shoal-nano-Q8_0.gguf')
const tiny = join(shipped, 'shoal-tiny/shoal-tiny-Q4_0.gguf')

/** A models folder, and a folder that shoal only reads. */
function useFolders() {
  const home = mkdtempSync(join(tmpdir(), 'shoal-folders-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const models = join(home, 'models')
  const lab = join(home, 'lab')
  mkdirSync(lab)
  const put = (name: string, from = nano) => {
    const path = join(home, name)
    mkdirSync(dirname(path), { recursive: true })
    copyFileSync(from, path)
    return path
  }
  const list = async (...folders: string[]) => {
    const skipped: Unreadable[] = []
    const wanted = folders.length > 0 ? folders : [lab]
    const options = { modelsDirectory: models, folders: wanted, areOthersForgotten: true }
    const files = await listModelFiles(options, (one) => skipped.push(one))
    const names = files.map(({ modelName, isMissing }) =>
      isMissing ? `${modelName} (missing)` : modelName,
    )
    return { files, names, skipped }
  }
  return { home, models, lab, put, list }
}

/** All paths below a folder, with their inodes and times. Any write would change an inode or a time. */
const snapshot = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => {
    const { ino, size, mtimeMs, ctimeMs, nlink } = lstatSync(join(folder, name))
    return { name, ino, size, mtimeMs, ctimeMs, nlink }
  })

test('files at any depth are listed, and nothing is written to their folder', async () => {
  const { models, lab, put, list } = useFolders()
  const path = put('lab/tide-Q8_0.gguf')
  put('lab/a/b/c/d/e/f/g/h/i/j/surf-Q8_0.gguf')
  put('lab/unsloth/Wave-GGUF/wave-Q8_0.gguf')
  put('lab/.hidden/foam-Q8_0.gguf')
  const before = snapshot(lab)
  const { names, files, skipped } = await list()
  expect(names).toEqual(['surf', 'tide', 'wave'])
  expect(skipped).toEqual([])
  const tide = files.find(({ modelName }) => modelName === 'tide')
  expect(tide).toMatchObject({ target: path, isFinished: true, imported: { folder: lab } })
  for (const file of files) await checkImport(file)
  expect((await list()).files.every(({ isVerified }) => isVerified)).toBe(true)
  expect(snapshot(lab)).toEqual(before)
  expect(existsSync(join(models, 'tide', '.shoal', 'tide-Q8_0.gguf.json'))).toBe(true)
})

test('files that are added, moved, replaced or deleted are noticed at the next search', async () => {
  const { lab, put, list } = useFolders()
  put('lab/tide-Q8_0.gguf')
  const foam = put('lab/foam-Q8_0.gguf')
  await list()
  put('lab/wave-Q8_0.gguf')
  mkdirSync(join(lab, 'moved'))
  renameSync(join(lab, 'tide-Q8_0.gguf'), join(lab, 'moved', 'tide-Q8_0.gguf'))
  rmSync(foam)
  const { names, files } = await list()
  expect(names).toEqual(['tide', 'wave'])
  const [tide] = files
  expect(tide?.target).toBe(join(lab, 'moved', 'tide-Q8_0.gguf'))
  copyFileSync(tiny, tide?.target ?? '')
  const [replaced] = (await list()).files
  expect(replaced?.imported).toMatchObject({ quantization: 'Q4_0' })
  expect(replaced?.imported?.file_size_bytes).toBe(lstatSync(tiny).size)
})

test('a file that is being copied into the folder is listed when it is complete', async () => {
  const { put, list } = useFolders()
  put('lab/tide-Q8_0.gguf')
  const half = put('lab/wave-Q8_0.gguf')
  truncateSync(half, 500_000)
  expect(await list()).toMatchObject({ names: ['tide'], skipped: [{ path: half }] })
  copyFileSync(nano, half)
  expect(await list()).toMatchObject({ names: ['tide', 'wave'], skipped: [] })
})

test('while a disk is not mounted, its models are missing, and once it is mounted again, their hashes are still known', async () => {
  const { home, lab, put, list } = useFolders()
  put('lab/tide-Q8_0.gguf')
  for (const file of (await list()).files) await checkImport(file)
  renameSync(lab, join(home, 'aside'))
  const gone = await list()
  expect(gone.names).toEqual(['tide (missing)'])
  expect(gone.skipped).toEqual([{ path: lab, why: 'it does not exist' }])
  mkdirSync(lab) // the empty mount point
  expect((await list()).names).toEqual(['tide (missing)'])
  rmSync(lab, { recursive: true })
  renameSync(join(home, 'aside'), lab)
  const { names, files, skipped } = await list()
  expect({ names, skipped }).toEqual({ names: ['tide'], skipped: [] })
  expect(files[0]).toMatchObject({ isVerified: true })
})

test('links into the folder are followed once, and links out of it and loops are reported', async () => {
  const { home, lab, put, list } = useFolders()
  const blob = put('lab/blobs/0123')
  const outside = put('outside/foam-Q8_0.gguf')
  symlinkSync('blobs/0123', join(lab, 'tide-Q8_0.gguf'))
  symlinkSync(blob, join(lab, 'again-Q8_0.gguf'))
  symlinkSync(outside, join(lab, 'out-Q8_0.gguf'))
  symlinkSync('loop-Q8_0.gguf', join(lab, 'loop-Q8_0.gguf'))
  symlinkSync('..', join(lab, 'up'))
  symlinkSync(join(home, 'outside'), join(lab, 'folder.gguf'))
  symlinkSync('/dev/zero', join(lab, 'zero-Q8_0.gguf'))
  const { names, files, skipped } = await list()
  expect(names).toEqual(['again'])
  expect(files[0]?.target).toBe(blob)
  expect(
    Object.fromEntries(skipped.map(({ path, why }) => [path.slice(lab.length + 1), why])),
  ).toEqual({
    'folder.gguf': expect.stringContaining(`it is a link to ${home}/outside, which is outside`),
    'loop-Q8_0.gguf': 'it is part of a loop of links',
    'out-Q8_0.gguf': expect.stringContaining(`it is a link to ${outside}, which is outside`),
    'zero-Q8_0.gguf': expect.stringContaining('it is a link to /dev/zero, which is outside'),
  })
  expect((await list()).names).toEqual(['again'])
})

test('files with the same name in two folders, or twice in one folder, are separate models', async () => {
  const { home, put, list } = useFolders()
  put('lab/tide-Q8_0.gguf')
  put('lab/old/tide-Q8_0.gguf')
  put('lab/q4/tide-Q4_0.gguf', tiny)
  put('nas/tide-Q8_0.gguf')
  const folders = [join(home, 'lab'), join(home, 'nas'), home]
  const { files, skipped } = await list(...folders)
  expect(skipped).toEqual([])
  const origins = Object.fromEntries(
    files.map(({ modelName, target }) => [target?.slice(home.length + 1), modelName]),
  )
  expect(origins).toEqual({
    'lab/tide-Q8_0.gguf': 'tide',
    'lab/q4/tide-Q4_0.gguf': 'tide',
    'lab/old/tide-Q8_0.gguf': 'lab-old/tide',
    'nas/tide-Q8_0.gguf': 'nas/tide',
  })
  expect((await list(...folders)).files).toHaveLength(4)
})

test('models that are already listed are not listed twice', async () => {
  const { models, lab, put, list } = useFolders()
  put('models/own/own-Q8_0.gguf')
  const tide = put('lab/tide-Q8_0.gguf')
  const { files } = await findAtPath(tide)
  const [found] = files
  if (found === undefined) throw new Error('the file is a model')
  await importFile(found, { modelsDirectory: models, method: 'copy', name: 'mine' })
  put('lab/wave/wave-Q8_0.gguf')
  symlinkSync(join(lab, 'wave'), join(models, 'wave'))
  const before = snapshot(lab)
  expect((await list()).names).toEqual(['mine', 'own', 'wave'])
  expect(snapshot(lab)).toEqual(before)
})

test('the models folder is never searched, whether it contains a read-only folder or is in one', async () => {
  const { home, models, put, list } = useFolders()
  put('models/own/own-Q8_0.gguf')
  put('lab/tide-Q8_0.gguf')
  expect((await list(home)).names).toEqual(['own', 'tide'])
  expect((await list(home)).names).toEqual(['own', 'tide'])
  const inner = join(models, 'own')
  const { names, skipped } = await list(inner, models)
  expect(names).toEqual(['own'])
  const why = 'it is in the models folder, which is listed anyway'
  expect(skipped).toEqual([inner, models].map((path) => ({ path, why })))
})

test('a linked model folder is never written to', async () => {
  const { home, models, lab, put, list } = useFolders()
  put('lab/tide-Q8_0.gguf')
  mkdirSync(models)
  mkdirSync(join(home, 'theirs'))
  symlinkSync(join(home, 'theirs'), join(models, 'tide'))
  const { names, skipped } = await list()
  expect(names).toEqual([])
  expect(skipped).toMatchObject([
    {
      path: join(lab, 'tide-Q8_0.gguf'),
      why: expect.stringContaining('shoal does not change the targets of links'),
    },
  ])
  expect(readdirSync(join(home, 'theirs'))).toEqual([])
})

test('the models of a folder that is no longer set are forgotten, with their records', async () => {
  const { home, models, put, list } = useFolders()
  put('lab/tide-Q8_0.gguf')
  put('nas/wave-Q8_0.gguf')
  const [lab, nas] = ['lab', 'nas'].map((name) => join(home, name)) as [string, string]
  for (const file of (await list(lab, nas)).files) await checkImport(file)
  expect((await list(nas)).names).toEqual(['wave'])
  expect(readdirSync(models)).toEqual(['wave'])
  const path = join(models, 'wave', 'wave-Q8_0.gguf')
  expect(readlinkSync(path)).toBe(join(nas, 'wave-Q8_0.gguf'))
  expect(await readImportRecord(path)).toMatchObject({ folder: nas, method: 'reference' })
  expect(await readRecord(path)).toMatchObject({ without_peers: true })
})

test('simultaneous searches add each file only once', async () => {
  const { put, list } = useFolders()
  for (const name of ['tide', 'wave', 'foam']) put(`lab/${name}-Q8_0.gguf`)
  await Promise.all([list(), list(), list()])
  expect(await list()).toMatchObject({ names: ['foam', 'tide', 'wave'], skipped: [] })
})

test('a search ends at the maximum number of files and folders', async () => {
  const { lab, put } = useFolders()
  const first = put('lab/000/tide-Q8_0.gguf')
  for (let folder = 1; folder <= 100; folder += 1) {
    const inner = join(lab, String(folder).padStart(3, '0'))
    mkdirSync(inner)
    writeFileSync(join(inner, 'a'), '')
    for (let index = 0; index < 200; index += 1) linkSync(join(inner, 'a'), join(inner, `${index}`))
  }
  const last = put('lab/999/tide-Q8_0.gguf')
  expect(await listGgufFiles(lab)).toEqual({ paths: [first, last], skipped: [] })
  const why = 'only its first 10,000 files and folders were searched'
  expect(await listGgufFiles(lab, { maxEntries: 10_000 })).toEqual({
    paths: [first],
    skipped: [{ path: lab, why }],
  })
})
