import { randomUUID } from 'node:crypto'
import { lstat, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { makeFolder } from './make-folder.ts'
import { syncFolder } from './sync.ts'

const unfinishedName = /\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.(new|tmp)$/
/** Writing a small file takes milliseconds, so an older unfinished file was left by a killed process. */
const maxAgeMs = 60 * 60 * 1000

/**
 * Returns a unique path next to `path` for a file that is not yet complete, so that concurrent writers do not
 * interfere.
 */
export const unfinishedPath = (path: string): string => `${path}.${randomUUID()}.new`

type WriteOptions = {
  /** The default depends on the user's umask. */
  mode?: number | undefined
}

/**
 * Writes a small file atomically: after a power failure, the file has either its old or its new content. Creates the
 * file's folder if it is missing. Also removes unfinished files that killed processes have left in the folder.
 * @param modes `folderMode` applies to folders that have to be created. The defaults depend on the user's umask
 */
export async function writeWhole(
  path: string,
  content: string | Uint8Array,
  { mode, folderMode }: WriteOptions & { folderMode?: number } = {},
): Promise<void> {
  makeFolder(dirname(path), folderMode)
  await replace(path, content, { mode })
}

/** Like `writeWhole`, but throws if the folder does not exist, and resolves only when the new content is on disk. */
export async function replaceFile(
  path: string,
  content: string | Uint8Array,
  options: WriteOptions = {},
): Promise<void> {
  await replace(path, content, options)
  await syncFolder(dirname(path))
}

async function replace(path: string, content: string | Uint8Array, { mode }: WriteOptions) {
  const unfinished = unfinishedPath(path)
  try {
    await writeFile(unfinished, content, { flush: true, ...(mode !== undefined && { mode }) })
    await rename(unfinished, path)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
  await removeUnfinished(dirname(path))
}

/**
 * Removes from a folder all files that are older than an hour and have names created by `unfinishedPath`, or similar
 * names that end in `.tmp`, which earlier versions created. Ignores errors, for example if the folder does not exist,
 * because they do not affect the caller's work.
 */
export async function removeUnfinished(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => [])
  for (const path of names
    .filter((name) => unfinishedName.test(name))
    .map((n) => join(folder, n))) {
    const found = await lstat(path).catch(() => undefined) // another process may have removed it
    const isLeft = found?.isFile() && Date.now() - found.mtimeMs > maxAgeMs
    if (isLeft) await rm(path, { force: true }).catch(() => undefined)
  }
}
