import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { ByteRange } from './object-store.ts'

const run = promisify(execFile)

/**
 * Gives the blocks of a range of a file back to the disk; the range reads as zeros then. False where that is not to be had: Node has
 * no such call, so it takes the program `fallocate` of util-linux, and a file system that can (ext4, XFS, Btrfs, tmpfs).
 */
export async function punchHole(path: string, { start, size }: ByteRange): Promise<boolean> {
  const range = ['--offset', `${start}`, '--length', `${size}`]
  return run('fallocate', ['--punch-hole', ...range, '--', path]).then(
    () => true,
    () => false,
  )
}
