import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../../testing/temporary-folder.ts'
import { makeFolder } from './make-folder.ts'

test('creates a folder and its parents, and leaves an existing folder unchanged', async () => {
  const path = join(temporaryFolder(), 'a', 'b')
  makeFolder(path, 0o700)
  makeFolder(path, 0o755)
  expect((await stat(path)).mode & 0o777).toBe(0o700)
  expect((await stat(join(path, '..'))).mode & 0o777).toBe(0o700)
})

test("a file at the folder's path or in place of a parent causes an error", async () => {
  const file = join(temporaryFolder(), 'file')
  await writeFile(file, '')
  expect(() => makeFolder(file)).toThrow('EEXIST')
  expect(() => makeFolder(join(file, 'folder'))).toThrow(/EEXIST|ENOTDIR/)
})

test.runIf(process.platform === 'linux')(
  'a file system that does not allow new folders causes an immediate error',
  () => expect(() => makeFolder('/proc/shoal/data')).toThrow('ENOENT'),
)
