import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../../testing/temporary-folder.ts'
import { errnoOf, reasonOfErrno } from './errno.ts'
import { readSmallFile } from './open-file.ts'

test('only regular files up to a size are read, so that no read waits for another program', async () => {
  const folder = temporaryFolder()
  const [file, pipe, link] = ['file', 'pipe', 'link'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  writeFileSync(file, 'tide')
  execFileSync('mkfifo', [pipe])
  symlinkSync(pipe, link)
  mkdirSync(join(folder, 'folder'))
  expect(await readSmallFile(file, 4)).toEqual(Buffer.from('tide'))
  await expect(readSmallFile(file, 3)).rejects.toMatchObject({ code: 'EFBIG' })
  for (const path of [pipe, link, join(folder, 'folder'), '/dev/zero']) {
    await expect(readSmallFile(path, 4), path).rejects.toThrow('it is not a file')
  }
})

test('system errors for which Node has no name have their code, and a phrase', () => {
  const code = 'Unknown system error -116'
  const error = Object.assign(new Error(code), { code, errno: -116, syscall: 'open' })
  expect(errnoOf(error)).toBe('ESTALE')
  expect(reasonOfErrno(error)).toBe('its network disk is not connected')
  expect(reasonOfErrno(new Error('it is not a file'))).toBe('it is not a file')
})
