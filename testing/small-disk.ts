/** Mounts small disks (tmpfs) on Linux. Requires root; some containers do not allow mounting even then. */
import { execFileSync } from 'node:child_process'
import {
  accessSync,
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  rmdirSync,
  statfsSync,
  writeSync,
} from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findProgram, needProgram } from './programs.ts'

/** Mounts a disk (tmpfs) of a size such as `64m`, at `path` or in a temporary folder. Requires `canMount`. */
export async function smallDisk(size: string, path?: string) {
  const at = path ?? (await mkdtemp(join(tmpdir(), 'shoal-disk-')))
  await mkdir(at, { recursive: true })
  execFileSync(needProgram('mount'), ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', at])
  const filling = join(at, 'filling')

  return {
    path: at,
    resize: (to: string) => execFileSync(needProgram('mount'), ['-o', `remount,size=${to}`, at]),
    freeBytes() {
      const { bavail, bsize } = statfsSync(at)
      return bavail * bsize
    },
    /** Fills the disk until only `leaveBytes` are free. */
    fill(leaveBytes = 0) {
      const file = openSync(filling, 'a')
      try {
        for (;;) {
          const { bavail, bsize } = statfsSync(at)
          const size = Math.min(1024 * 1024, bavail * bsize - leaveBytes)
          if (size <= 0) return
          writeSync(file, Buffer.alloc(size, 1))
        }
      } finally {
        closeSync(file)
      }
    },
    /** Deletes what `fill` has written. */
    free: () => rm(filling, { force: true }),
    async unmount() {
      execFileSync(needProgram('umount'), ['-l', at])
      await rm(at, { recursive: true, force: true })
    },
  }
}

/** A folder in memory, which is on another file system than temporary folders; undefined if it cannot be used. */
export const memoryFolder = findMemoryFolder()

function findMemoryFolder(): string | undefined {
  const path = '/dev/shm'
  try {
    accessSync(path, constants.W_OK | constants.X_OK)
    return path
  } catch {
    return undefined // the system has no such folder, or does not allow this user to write to it
  }
}

/** Whether disks can be mounted: false without root, and in containers that lack permission to mount. */
export const canMount = isAbleToMount()

function isAbleToMount(): boolean {
  const [mount, umount] = [findProgram('mount'), findProgram('umount')]
  if (process.getuid?.() !== 0 || !mount || !umount) return false
  const path = mkdtempSync(join(tmpdir(), 'shoal-mount-'))
  try {
    execFileSync(mount, ['-t', 'tmpfs', 'tmpfs', path], { stdio: 'ignore' })
    execFileSync(umount, [path])
    return true
  } catch {
    return false // the container lacks permission to mount
  } finally {
    rmdirSync(path)
  }
}
