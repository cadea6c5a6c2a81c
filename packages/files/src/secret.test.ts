import { chmod, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../../testing/temporary-folder.ts'
import { createSecretFile, othersAndGroup, takePermissions } from './secret.ts'

const modeOf = async (path: string) => (await stat(path)).mode & 0o777

test('a new secret file is private, and an existing file is made private without other changes', async () => {
  const path = join(temporaryFolder(), 'secret')
  createSecretFile(path)
  expect(await modeOf(path)).toBe(0o600)
  await writeFile(path, 'text')
  await chmod(path, 0o755)
  createSecretFile(path)
  expect(takePermissions(path, 0o007)).toBe(true)
  expect(await modeOf(path)).toBe(0o750)
  expect(takePermissions(path, othersAndGroup)).toBe(true)
  expect(await modeOf(path)).toBe(0o700)
  expect(takePermissions(join(path, '..', 'missing'), othersAndGroup)).toBe(true)
})

test.runIf(process.platform === 'linux')(
  'a file whose permissions cannot be changed is reported',
  () => expect(takePermissions('/proc/self/status', othersAndGroup)).toBe(false),
)
