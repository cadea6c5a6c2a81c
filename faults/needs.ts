import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isAbleToMountImages } from '../testing/image-disk.ts'
import { findPostgresBinaries } from '../testing/postgres.ts'
import { canMount } from '../testing/small-disk.ts'

/** A requirement of a fault that not every machine meets. */
export type Need = 'PostgreSQL' | 'permission to mount' | 'a loop device with ext4' | 'libfaketime'

export type Missing = ReadonlySet<Need>

/** Returns the requirements that this machine does not meet. */
export function findMissing(): Missing {
  const missing = new Set<Need>()
  if (!findPostgresBinaries()) missing.add('PostgreSQL')
  if (!canMount) missing.add('permission to mount')
  if (!isAbleToMountImages()) missing.add('a loop device with ext4')
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
