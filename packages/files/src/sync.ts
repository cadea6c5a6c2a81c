/** Flushes data from the system's memory to disk, so that the data survives a power failure. */
import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** Flushes the content of a file to disk. On Windows, the file must be writable. */
export async function syncFile(
  path: string,
  platform: NodeJS.Platform = process.platform,
): Promise<void> {
  // Windows syncs only files that are open for writing. Other systems can also sync read-only files.
  await syncOne(path, platform === 'win32' ? 'r+' : 'r')
}

/**
 * Flushes a folder's entries to disk, so that created, renamed and removed files persist. Does nothing on Windows,
 * which cannot open a folder.
 */
export async function syncFolder(
  path: string,
  platform: NodeJS.Platform = process.platform,
): Promise<void> {
  if (platform !== 'win32') await syncOne(path, 'r')
}

/** Flushes everything in a folder to disk. */
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
