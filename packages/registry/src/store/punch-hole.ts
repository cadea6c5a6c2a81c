import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { ByteRange } from './object-store.ts'

const run = promisify(execFile)

/**
 * Frees the disk blocks of a range of a file; the range then reads as zeros. False if this is not possible: Node has no
 * such call, so it needs the program `fallocate` of util-linux, and a file system with support (ext4, XFS, Btrfs,
 * tmpfs).
 */
export async function punchHole(path: string, { start, size }: ByteRange): Promise<boolean> {
  const range = ['--offset', `${start}`, '--length', `${size}`]
  return run('fallocate', ['--punch-hole', ...range, '--', path]).then(
    () => true,
    () => false,
  )
}
