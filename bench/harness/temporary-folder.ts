import { mkdtempSync, rmSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type TemporaryFolder = Disposable & { path: string }

/** A folder that goes with the block that asked for it, however the process ends. */
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

/** Throws where less room is left than a bench is going to need. */
export async function needRoom(bytes: number) {
  const { bavail, bsize } = await statfs(tmpdir())
  const free = bavail * bsize
  if (free < bytes) {
    const [needed, left] = [bytes, free].map((count) => (count / 1e9).toFixed(1))
    throw new Error(`this needs ${needed} GB in ${tmpdir()}, and ${left} GB are free: set TMPDIR`)
  }
}
