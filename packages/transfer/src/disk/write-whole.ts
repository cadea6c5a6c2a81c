import { randomUUID } from 'node:crypto'
import { rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeFolder } from '@shoal/log/folder'

/** Writes a small file whole or not at all, also where two do it at once: under a name of its own first. */
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
