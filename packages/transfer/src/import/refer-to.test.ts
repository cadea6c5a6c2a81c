import { mkdtemp, readlink, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { referTo } from './refer-to.ts'

test('a file is imported as a symbolic link, and an error explains if that is not possible', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'shoal-refer-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const path = join(folder, 'tide.gguf')
  await referTo('/store/tide.gguf', path, folder)
  expect(await readlink(path)).toBe('/store/tide.gguf')
  await expect(referTo('/store/tide.gguf', path, folder)).rejects.toMatchObject({ code: 'EEXIST' })
  // The error code on Windows and on FAT file systems.
  const refuse = () => Promise.reject(Object.assign(new Error('EPERM'), { code: 'EPERM' }))
  await expect(referTo('/store/tide.gguf', path, folder, refuse)).rejects.toMatchObject({
    code: 'cannot_link',
    message: `/store/tide.gguf cannot be imported by reference: ${folder} does not allow symbolic links`,
  })
})
