import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../../testing/temporary-folder.ts'
import { syncFile, syncFolder, syncTree } from './sync.ts'

test('a folder is synced with everything in it, except on Windows, which cannot open a folder', async () => {
  const folder = temporaryFolder()
  await mkdir(join(folder, 'inner'))
  await writeFile(join(folder, 'inner', 'read-only'), 'text', { mode: 0o444 })
  await syncTree(folder)
  await syncFile(join(folder, 'inner', 'read-only'))
  await expect(syncFolder(join(folder, 'missing'), 'darwin')).rejects.toThrow('ENOENT')
  await expect(syncFolder(join(folder, 'missing'), 'win32')).resolves.toBeUndefined()
})

test('on Windows, a file is opened for writing, because only such files can be synced', async () => {
  const folder = temporaryFolder()
  await expect(syncFile(folder, 'win32')).rejects.toThrow('EISDIR') // a folder cannot be opened for writing
  await expect(syncFile(folder, 'linux')).resolves.toBeUndefined()
})
