import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findProgram } from '../testing/find-program.ts'
import { findPostgresBinaries } from '../testing/postgres.ts'
import { mountImage } from './harness/disks.ts'

/** A requirement of a fault that not every machine meets. */
export type Need = 'PostgreSQL' | 'permission to mount' | 'a loop device with ext4' | 'libfaketime'

export type Missing = ReadonlySet<Need>

/** Returns the requirements that this machine does not meet. */
export function findMissing(): Missing {
  const missing = new Set<Need>()
  if (!findPostgresBinaries()) missing.add('PostgreSQL')
  if (!isAbleTo(mountAndUnmount)) missing.add('permission to mount')
  if (!findProgram('mkfs.ext4') || !isAbleTo(mountAndUnmountImage)) {
    missing.add('a loop device with ext4')
  }
  if (!findFaketime()) missing.add('libfaketime')
  return missing
}

/** Finds the library that shifts a process's clock, in the folders where Debian's package installs it. */
export function findFaketime(): string | undefined {
  const root = '/usr/lib'
  if (!existsSync(root)) return undefined
  return readdirSync(root)
    .map((folder) => join(root, folder, 'faketime', 'libfaketime.so.1'))
    .find((path) => existsSync(path))
}

function mountAndUnmount(folder: string) {
  execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', folder], { stdio: 'ignore' })
  execFileSync('umount', [folder])
}

function mountAndUnmountImage(folder: string) {
  mountImage(join(folder, 'image'), join(folder, 'disk'))[Symbol.dispose]()
}

function isAbleTo(attempt: (folder: string) => void): boolean {
  if (process.getuid?.() !== 0) return false
  const folder = mkdtempSync(join(tmpdir(), 'shoal-faults-can-'))
  try {
    attempt(folder)
    return true
  } catch {
    return false // the container lacks permission to mount
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
