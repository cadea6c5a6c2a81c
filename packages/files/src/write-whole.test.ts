import { readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../../testing/temporary-folder.ts'
import { removeUnfinished, replaceFile, unfinishedPath, writeWhole } from './write-whole.ts'

test('writes a file with its folder, and replaces it', async () => {
  const path = join(temporaryFolder(), 'hidden', 'record.json')
  await writeWhole(path, 'one', { mode: 0o600, folderMode: 0o700 })
  await writeWhole(path, 'two', { mode: 0o600 })
  expect(await readFile(path, 'utf8')).toBe('two')
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect((await stat(join(path, '..'))).mode & 0o777).toBe(0o700)
  expect(await readdir(join(path, '..'))).toEqual(['record.json'])
})

test('a file that cannot be replaced stays, and nothing else is left', async () => {
  const folder = temporaryFolder()
  const path = join(folder, 'folder')
  await writeWhole(join(path, 'record.json'), '{}')
  await expect(writeWhole(path, 'one')).rejects.toThrow('EISDIR')
  expect(await readdir(folder)).toEqual(['folder'])
})

test.each([
  ['writeWhole', writeWhole],
  ['replaceFile', replaceFile],
])(
  '%s removes what a killed process has left, but no file that may still be written',
  async (_, write) => {
    const folder = temporaryFolder()
    const path = join(folder, 'record.json')
    const left = [unfinishedPath(path), unfinishedPath(join(folder, 'model.json'))]
    const young = unfinishedPath(path)
    const foreign = join(folder, 'notes.new')
    const longAgo = new Date(Date.now() - 2 * 60 * 60 * 1000)
    for (const one of [...left, young, foreign]) await writeFile(one, '{')
    for (const one of [...left, foreign]) await utimes(one, longAgo, longAgo)
    await write(path, '{}')
    const names = (await readdir(folder)).map((name) => join(folder, name))
    expect(names.toSorted()).toEqual([foreign, path, young].toSorted())
    await expect(removeUnfinished(join(folder, 'missing'))).resolves.toBeUndefined()
  },
)

test('replaceFile does not create a missing folder', async () => {
  const folder = join(temporaryFolder(), 'store')
  await expect(replaceFile(join(folder, 'identity'), 'one')).rejects.toThrow('ENOENT')
  await expect(stat(folder)).rejects.toThrow('ENOENT')
})
