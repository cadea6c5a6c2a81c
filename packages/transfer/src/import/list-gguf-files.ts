import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { reasonOf, type Skipped } from './found-file.ts'

/**
 * The maximum depth. It is enough for every program's store, and it stops the search if a folder contains itself
 * through a mount.
 */
const maxDepth = 32
type Listed = { paths: string[]; skipped: Skipped[] }

type Options = {
  /** A folder to skip, as an absolute path without links. */
  without?: string | undefined
  /**
   * The maximum number of files and folders to examine, so that a search of a whole disk does not take forever.
   * Default: 100,000.
   */
  maxEntries?: number
  signal?: AbortSignal | undefined
}

/**
 * Lists the `.gguf` files below a folder in sorted order, including links to files. Hidden files and folders are
 * ignored, and links to folders are not followed. `skipped` contains the folders that cannot be read, and `folder`
 * itself if it contains more than `maxEntries` files and folders.
 */
export async function listGgufFiles(
  folder: string,
  { without, maxEntries = 100_000, signal }: Options = {},
): Promise<Listed> {
  const listed: Listed = { paths: [], skipped: [] }
  let entriesLeft = maxEntries
  let isCut = false

  async function search(inner: string, depth: number) {
    signal?.throwIfAborted()
    const entries = await readdir(inner, { withFileTypes: true }).catch((error) => {
      listed.skipped.push({ path: inner, why: reasonOf(error) })
      return []
    })
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      isCut ||= entriesLeft === 0
      if (isCut) return
      entriesLeft -= 1
      const path = join(inner, entry.name)
      if (entry.name.startsWith('.') || path === without) continue
      if (entry.isDirectory() && depth < maxDepth) await search(path, depth + 1)
      const isFile = entry.isFile() || entry.isSymbolicLink()
      if (isFile && /\.gguf$/i.test(entry.name)) listed.paths.push(path)
    }
  }

  await search(folder, 1)
  if (isCut) {
    const why = `only its first ${maxEntries.toLocaleString('en')} files and folders were searched`
    listed.skipped.push({ path: folder, why })
  }
  return listed
}
