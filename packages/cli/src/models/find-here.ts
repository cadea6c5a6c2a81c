/** Finds the models that other programs have stored on this machine. */
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { isErrno, reasonOfErrno } from '@shoal/files'
import type { FoundFile, Skipped, StoreName } from '@shoal/transfer'
import type { Environment } from '../environment.ts'
import { Failure } from '../terminal/failure.ts'
import { notReadable } from '../terminal/read-text.ts'

type StorePlaces = { env: Environment; home: string; platform: NodeJS.Platform }

/**
 * Finds the model files at paths and in the stores of other programs. The name of a store takes precedence over a file
 * with the same name. To specify such a file, use a path such as `./ollama`.
 */
export async function findModelFiles(
  sources: readonly string[],
  places: StorePlaces,
): Promise<{ files: FoundFile[]; skipped: Skipped[] }> {
  const { findAtPath, storeReaders } = await import('@shoal/transfer')
  const storeNames = Object.keys(storeReaders) as StoreName[]
  const files = new Map<string, FoundFile>()
  const skipped: Skipped[] = []
  for (const source of sources) {
    const store = storeNames.find((name) => name === source)
    const found = store
      ? await findInStore(store, places)
      : await findAtPath(resolve(source)).catch((error) => notReadable(source, error))
    skipped.push(...found.skipped)
    for (const file of found.files) files.set(`${file.path} ${file.modelName}`, file)
  }
  return { files: [...files.values()], skipped }
}

async function findInStore(store: StoreName, places: StorePlaces) {
  const { storeFolders, storeReaders } = await import('@shoal/transfer')
  const folders = storeFolders(store, places)
  const files: FoundFile[] = []
  const skipped: Skipped[] = []
  let isThere = false
  for (const folder of folders) {
    if (!(await isFolder(folder))) continue
    isThere = true
    const found = await storeReaders[store](folder).catch((error) => unread(folder, error))
    files.push(...found.files)
    skipped.push(...found.skipped)
  }
  if (isThere) return { files, skipped }
  throw new Failure('not_found', `There is no ${store} store in ${folders.join(' or ')}.`, {
    hint: 'To import from another folder: shoal import <folder>',
  })
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return false
    return true // why the folder cannot be accessed is reported when it is read
  }
}

/** A store that cannot be read does not prevent an import from the others. */
function unread(folder: string, error: NodeJS.ErrnoException) {
  if (error.syscall === undefined) throw error
  return { files: [], skipped: [{ path: folder, why: reasonOfErrno(error) }] }
}
