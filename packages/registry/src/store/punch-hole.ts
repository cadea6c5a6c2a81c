import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { ByteRange } from './object-store.ts'

const run = promisify(execFile)

/**
 * Frees the disk blocks of a range of a file; the range then reads as zeros. Resolves to false if this is not possible.
 * Node.js has no function for this, so the `fallocate` program (util-linux) is required. The file system must support
 * hole punching (ext4, XFS, Btrfs, tmpfs).
 */
export async function punchHole(path: string, { start, size }: ByteRange): Promise<boolean> {
  const range = ['--offset', `${start}`, '--length', `${size}`]
  return run('fallocate', ['--punch-hole', ...range, '--', path]).then(
    () => true,
    () => false,
  )
}
