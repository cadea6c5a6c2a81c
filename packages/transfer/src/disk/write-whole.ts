import { randomUUID } from 'node:crypto'
import { rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeFolder } from '@shoal/log/folder'

/**
 * Writes a small file atomically. The content is first written under a unique temporary name, so that two writers do
 * not interfere.
 */
export async function writeWhole(path: string, content: string | Uint8Array): Promise<void> {
  makeFolder(dirname(path))
  const unfinished = `${path}.${randomUUID()}.new`
  try {
    await writeFile(unfinished, content, { flush: true })
    await rename(unfinished, path)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
}
