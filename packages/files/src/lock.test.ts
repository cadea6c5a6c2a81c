import { existsSync, readdirSync, utimesSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { canMount, smallDisk } from '../../../testing/small-disk.ts'
import { temporaryFolder } from '../../../testing/temporary-folder.ts'
import { heldPath, lockFile, removeLocks, tryLock } from './lock.ts'

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

/** SQLite's errors on file systems without locks. `ENOLCK` is reported as busy. */
const locklessErrors = [5, 3850]

test.each(locklessErrors)(
  'on a file system without locks (SQLite error %d), a lock is a file, which becomes stale if its holder is killed',
  async (errcode) => {
    const path = join(temporaryFolder(), 'lock')
    const lockDatabase = () => {
      throw Object.assign(new Error('disk I/O error'), { errcode })
    }
    const lock = () => tryLock(path, lockDatabase)
    const release = lock()
    expect([lock(), existsSync(heldPath(path))]).toEqual([undefined, true])
    release?.()
    expect(existsSync(heldPath(path))).toBe(false)
    expect(lock()).toBeTypeOf('function')
    const killedAt = new Date(Date.now() - 61_000)
    utimesSync(heldPath(path), killedAt, killedAt)
    const again = lock()
    expect([again, lock()]).toEqual([expect.any(Function), undefined])
    again?.()
    expect(readdirSync(dirname(path))).toEqual(['lock'])
  },
)

test("SQLite's other errors name the lock", () => {
  const path = join(temporaryFolder(), 'lock')
  const lockDatabase = () => {
    throw Object.assign(new Error('disk I/O error'), { errcode: 266 })
  }
  expect(() => tryLock(path, lockDatabase)).toThrow(`${path} cannot be locked: disk I/O error`)
})
