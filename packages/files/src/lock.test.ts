import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { canMount, smallDisk } from '../../../testing/small-disk.ts'
import { temporaryFolder } from '../../../testing/temporary-folder.ts'
import { lockFile, removeLocks, tryLock } from './lock.ts'

test('a lock has only one holder at a time', async () => {
  const path = join(temporaryFolder(), 'hidden', 'lock')
  const release = await lockFile(path)
  expect(tryLock(path)).toBe(undefined)
  release()
  const again = tryLock(path)
  expect(again).toBeTypeOf('function')
  again?.()
})

test.skipIf(!canMount)('a lock can be taken on a full disk', async () => {
  const disk = await smallDisk('64k')
  onTestFinished(disk.unmount)
  const path = join(disk.path, 'lock')
  disk.fill()
  const release = await lockFile(path)
  expect(tryLock(path)).toBe(undefined)
  release()
})

test('waiting for a lock can be canceled', async () => {
  const path = join(temporaryFolder(), 'lock')
  const release = await lockFile(path)
  const abort = new AbortController()
  const reason = new Error('enough')
  const waiting = lockFile(path, { signal: abort.signal, onWait: () => abort.abort(reason) })
  await expect(waiting).rejects.toBe(reason)
  release()
})

test.each([
  ['after its file has been deleted', 'linux', false],
  ['before, on Windows, which does not delete open files', 'win32', true],
] as const)('a lock that is removed is released %s', async (_, platform, isThere) => {
  const path = join(temporaryFolder(), 'lock')
  const release = await lockFile(path)
  let wasThere: boolean | undefined
  await removeLocks(
    [path],
    () => {
      wasThere = existsSync(path)
      release()
    },
    platform,
  )
  expect(wasThere).toBe(isThere)
  expect(existsSync(path)).toBe(false)
})
