import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { reasonOf, type Skipped } from './found-file.ts'

/** Deep enough for every program's store, and an end for a folder that contains itself by a mount. */
const maxDepth = 8

/**
 * Lists the `.gguf` files below a folder, sorted, and the entries that cannot be read. Hidden folders are left out.
 * Linked folders are never followed, and linked files only if `areLinksFollowed` is set.
 */
export async function listGgufFiles(
  folder: string,
  {
    areLinksFollowed = false,
    depth = maxDepth,
  }: { areLinksFollowed?: boolean; depth?: number } = {},
): Promise<{ paths: string[]; skipped: Skipped[] }> {
  const paths: string[] = []
  const skipped: Skipped[] = []
  const entries = await readdir(folder, { withFileTypes: true }).catch((error) => {
    skipped.push({ path: folder, why: reasonOf(error) })
    return []
  })
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name)
    if (entry.name.startsWith('.')) continue
    if (entry.isDirectory() && depth > 1) {
      const inner = await listGgufFiles(path, { areLinksFollowed, depth: depth - 1 })
      paths.push(...inner.paths)
      skipped.push(...inner.skipped)
    }
    if (!/\.gguf$/i.test(entry.name)) continue
    if (entry.isFile()) paths.push(path)
    else if (entry.isSymbolicLink() && areLinksFollowed) paths.push(path)
    else if (entry.isSymbolicLink()) skipped.push({ path, why: await describeLink(path) })
  }
  return { paths, skipped }
}

async function describeLink(path: string): Promise<string> {
  const target = await stat(path).catch(() => undefined) // a link to nothing is described, too
  return target === undefined
    ? 'it is a link to a file that does not exist'
    : 'it is a link; to import the file, name it'
}
