import { mkdtempSync, rmSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type TemporaryFolder = Disposable & { path: string }

/** Creates a folder that is deleted at the end of the block that uses it, or when the process exits. */
export function temporaryFolder(): TemporaryFolder {
  const path = mkdtempSync(join(tmpdir(), 'shoal-bench-'))
  const remove = () => rmSync(path, { recursive: true, force: true })
  process.once('exit', remove)
  return {
    path,
    [Symbol.dispose]() {
      process.off('exit', remove)
      remove()
    },
  }
}

/** Throws if there is less free space on the disk than a benchmark needs. */
export async function needRoom(bytes: number) {
  const { bavail, bsize } = await statfs(tmpdir())
  const free = bavail * bsize
  if (free < bytes) {
    const [needed, left] = [bytes, free].map((count) => (count / 1e9).toFixed(1))
    throw new Error(
      `not enough disk space in ${tmpdir()}: ${left} GB free, ${needed} GB needed; set TMPDIR to another folder`,
    )
  }
}
