/**
 * Searches the read-only model folders. shoal lists and runs the GGUF files in these folders, but never writes to the
 * folders. Each file is imported by reference, so that the rest of the code can ignore these folders.
 */
import { realpath } from 'node:fs/promises'
import { basename, dirname, relative, sep } from 'node:path'
import { hasCode } from '@shoal/core/errors'
import { ignoreMissing, isErrno } from '@shoal/files'
import { writeImportRecord } from '../disk/import-record.ts'
import { type LocalFile, listLocalFiles, type Unreadable } from '../disk/list-local-files.ts'
import { removeLocalFiles } from '../local/remove-local-files.ts'
import { type Describe, readFiles } from './find-folder.ts'
import { type FoundFile, isInside, readFoundFile, reasonOf, toModelName } from './found-file.ts'
import { importFile } from './import-file.ts'
import { listGgufFiles } from './list-gguf-files.ts'

export type ModelFolders = {
  /** The folder in which shoal stores models and records. */
  modelsDirectory: string
  /** The read-only folders, as absolute paths. */
  folders: readonly string[]
  /** Whether to forget the files of folders that are no longer in `folders`. */
  areOthersForgotten?: boolean
  signal?: AbortSignal | undefined
}

/**
 * Lists all model files on this machine, like `listLocalFiles`, after searching the read-only model folders. New files
 * are added to the models folder by reference, and references to files that no longer exist are removed. If a folder
 * does not exist or contains no GGUF file, perhaps because its disk is not mounted, its models are listed as missing.
 * Files and folders that are skipped are reported.
 * @example
 * import { listModelFiles } from '@shoal/transfer'
 *
 * const files = await listModelFiles({ modelsDirectory: 'models', folders: ['/mnt/lab'] })
 */
export async function listModelFiles(
  { modelsDirectory, folders, areOthersForgotten = false, signal }: ModelFolders,
  onUnreadable: (unreadable: Unreadable) => void = () => undefined,
): Promise<LocalFile[]> {
  const unreadable: Unreadable[] = []
  const files = await listLocalFiles(modelsDirectory, (one) => unreadable.push(one))
  const others = areOthersForgotten ? files.filter((file) => isOfOther(file, folders)) : []
  let hasChanged = await forget(modelsDirectory, others, onUnreadable)
  const known = new Set(await Promise.all(files.map(findOrigin)))
  for (const folder of folders) {
    try {
      const followed = { modelsDirectory, folder, files, known, signal }
      hasChanged = (await follow(followed, onUnreadable)) || hasChanged
    } catch (error) {
      signal?.throwIfAborted()
      const isMissing = isErrno(error, 'ENOENT')
      onUnreadable({ path: folder, why: isMissing ? 'it does not exist' : reasonOf(error) })
    }
  }
  if (hasChanged) return await listLocalFiles(modelsDirectory, onUnreadable)
  for (const one of unreadable) onUnreadable(one)
  return files
}

const isOfOther = ({ imported }: LocalFile, folders: readonly string[]): boolean =>
  imported?.folder !== undefined && !folders.includes(imported.folder)

/** The real path of a file, without links; undefined for a partial file. */
const findOrigin = async ({ path, imported }: LocalFile) =>
  imported?.from ?? (await realpath(path).catch(ignoreMissing))

type Followed = {
  modelsDirectory: string
  folder: string
  files: readonly LocalFile[]
  /**
   * The real paths of the files that are already listed, including files that the user imported and files of folders
   * that have been searched before.
   */
  known: Set<string | undefined>
  signal: AbortSignal | undefined
}

/** Updates the references to the files in one folder. Returns whether anything has changed. */
async function follow(
  { modelsDirectory, folder, files, known, signal }: Followed,
  onUnreadable: (unreadable: Unreadable) => void,
): Promise<boolean> {
  const root = await realpath(folder)
  const own = await realpath(modelsDirectory).catch(ignoreMissing)
  if (own !== undefined && (root === own || isInside(own, root))) {
    onUnreadable({ path: folder, why: 'it is in the models folder, which is listed anyway' })
    return false
  }
  const { paths, skipped } = await listGgufFiles(root, { without: own, signal })
  const references = files.filter(({ imported }) => imported?.folder === folder)
  const isGone = ({ target, isMissing }: LocalFile) => isMissing || !isInside(root, target ?? '')
  // An empty folder is probably the mount point of a disk that is not mounted.
  const gone = paths.length === 0 ? [] : references.filter(isGone)
  const found = await readFiles({ root, paths, describe: describer(root), known, signal })
  for (const one of [...skipped, ...found.skipped]) onUnreadable(one)
  let hasChanged = await forget(modelsDirectory, gone, onUnreadable)
  for (const file of references.filter((one) => !isGone(one))) {
    hasChanged = (await describeAgain(file)) || hasChanged
  }
  const depth = (file: FoundFile) => file.path.split(sep).length
  for (const file of found.files.toSorted((a, b) => depth(a) - depth(b))) {
    known.add(file.path)
    const why = await add(file, { modelsDirectory, folder, root })
    if (why === undefined) hasChanged = true
    else onUnreadable({ path: file.path, why })
  }
  return hasChanged
}

/** If a file is not in a folder for its publisher, the name of the read-only folder is used as the publisher. */
const describer =
  (root: string): Describe =>
  (path, parts) => ({
    publisher: toModelName(parts.length > 2 ? (parts.at(-3) ?? '') : basename(root)),
    origin: path,
  })

/**
 * Removes references. Returns whether there were any. A reference that another process is using is removed at the next
 * search.
 */
async function forget(
  modelsDirectory: string,
  files: readonly LocalFile[],
  onUnreadable: (unreadable: Unreadable) => void,
): Promise<boolean> {
  for (const { path } of files) {
    await removeLocalFiles(modelsDirectory, [path]).catch((error) => {
      if (!hasCode(error, 'file_busy')) onUnreadable({ path, why: reasonOf(error) })
    })
  }
  return files.length > 0
}

/** If a file has been replaced by one of a different size, updates its import record and returns true. */
async function describeAgain({ path, filename, fileSizeBytes, imported }: LocalFile) {
  if (imported === undefined || imported.file_size_bytes === fileSizeBytes) return false
  try {
    const { from, origin, claimed_sha256 } = imported
    const described = { publisher: '', origin, sha256: claimed_sha256 ?? undefined, filename }
    const { quantization, license, sizeBytes } = await readFoundFile(from, described)
    const now = { ...imported, quantization, license, file_size_bytes: sizeBytes }
    await writeImportRecord(path, now)
    return true
  } catch (error) {
    reasonOf(error) // the header of a file that is being written cannot be read
    return false
  }
}

type Place = { modelsDirectory: string; folder: string; root: string }

/** Adds a reference to a file. If that is not possible, returns the reason. */
async function add(file: FoundFile, { modelsDirectory, folder, root }: Place) {
  const path = [basename(root), ...relative(root, dirname(file.path)).split(sep)].join('-')
  // If another model with this name has the same publisher, the path is used as the publisher instead.
  const publishers = [file.publisher, path, `${basename(dirname(root))}-${path}`]
  for (const publisher of publishers.map(toModelName)) {
    try {
      await importFile({ ...file, publisher }, { modelsDirectory, method: 'reference', folder })
      return undefined
    } catch (error) {
      if (hasCode(error, 'file_changed')) return 'it changed or was deleted during the search'
      if (!hasCode(error, 'file_in_the_way')) return reasonOf(error)
    }
  }
  return `there are other models named ${file.modelName}`
}
