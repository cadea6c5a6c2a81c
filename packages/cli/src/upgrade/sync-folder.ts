import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** Writes everything in the folder to disk, so that after a power failure no file of it is empty or missing. */
export async function syncTree(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) await syncTree(path)
    else if (entry.isFile()) await syncOne(path)
  }
  await syncFolder(folder)
}

/** Writes the names in the folder to disk. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform !== 'win32') await syncOne(folder) // Windows opens no folders
}

async function syncOne(path: string): Promise<void> {
  const handle = await open(path, 'r')
  await handle.sync().finally(() => handle.close())
}
