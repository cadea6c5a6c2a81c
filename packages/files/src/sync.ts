/** Writes to disk what the system still keeps in memory, so that it survives a power failure. */
import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** Writes the content of a file to disk. On Windows, the file must be writable. */
export async function syncFile(
  path: string,
  platform: NodeJS.Platform = process.platform,
): Promise<void> {
  // A file may be read-only here, but Windows syncs only files that are open for writing.
  await syncOne(path, platform === 'win32' ? 'r+' : 'r')
}

/**
 * Writes the names in a folder to disk: the creation, renaming and removal of files. Does nothing on Windows, which
 * cannot open a folder.
 */
export async function syncFolder(
  path: string,
  platform: NodeJS.Platform = process.platform,
): Promise<void> {
  if (platform !== 'win32') await syncOne(path, 'r')
}

/** Writes everything in a folder to disk. */
export async function syncTree(path: string): Promise<void> {
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const inner = join(path, entry.name)
    if (entry.isDirectory()) await syncTree(inner)
    else if (entry.isFile()) await syncFile(inner)
  }
  await syncFolder(path)
}

async function syncOne(path: string, flags: 'r' | 'r+'): Promise<void> {
  const handle = await open(path, flags)
  await handle.sync().finally(() => handle.close())
}
