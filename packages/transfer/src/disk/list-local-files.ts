import { lstat, readdir, stat } from 'node:fs/promises'
import { basename, dirname, join, relative, sep } from 'node:path'
import { isModelName } from '@shoal/core/references'
import { isErrno, reasonOfErrno } from '@shoal/files'
import { type ImportRecord, readImportRecord } from './import-record.ts'
import { hostOfFolder } from './model-folder.ts'
import { readPartialProgress } from './partial-file.ts'
import { type LocalFileRecord, readRecord } from './record.ts'
import { findLinkTarget } from './refuse-link.ts'
import { isUnchanged } from './stamp.ts'

/** A model file on this machine, complete or partial. */
export type LocalFile = {
  /** The path of the finished file, even if only a partial file exists. */
  path: string
  /** The model's name; `<host>/<name>` if the folder `<name>` belongs to another model. */
  modelName: string
  filename: string
  /** The size of the finished file; undefined for a partial file whose journal cannot be read. */
  fileSizeBytes: number | undefined
  /** Number of bytes on disk; equal to `fileSizeBytes` for a finished file. */
  bytesHere: number
  isFinished: boolean
  /** Whether `path` is a symbolic link to a file that no longer exists, or to a disk that is not mounted. */
  isMissing: boolean
  /** Where the file came from, if it was imported from another program. */
  imported: ImportRecord | undefined
  modifiedAt: Date
  /** The target if `path` is a symbolic link, as for a file imported by reference. shoal never changes the target. */
  target: string | undefined
  /** Whether the file is finished, has a record, and has not changed since it was hashed. */
  isVerified: boolean
  /** Undefined for a partial or missing file, and for a file that shoal has neither pulled nor hashed. */
  record: LocalFileRecord | undefined
}

/** A path in the models folder that cannot be read, and the reason, for example `permission denied`. */
export type Unreadable = { path: string; why: string }

/**
 * Lists every `<models>/<name>/*.gguf` and `<models>/<host>/<name>/*.gguf`, finished or partial, sorted by model and
 * filename. Unreadable entries are reported and skipped, so that all others are listed. An imported file whose original
 * no longer exists is listed as missing.
 * @example
 * import { listLocalFiles } from '@shoal/transfer'
 *
 * for (const { path, isFinished } of await listLocalFiles('models')) console.log(path, isFinished)
 */
export async function listLocalFiles(
  modelsDirectory: string,
  onUnreadable: (unreadable: Unreadable) => void = () => undefined,
): Promise<LocalFile[]> {
  const files: LocalFile[] = []
  const leaveOut = (path: string) => leftOut(path, onUnreadable)

  async function listModel(directory: string, modelName: string, names: readonly string[]) {
    for (const name of names) {
      const path = join(directory, name)
      const read = /\.gguf$/i.test(name) ? readFinishedFile : readUnfinishedFile
      // On file systems other than its own, for example on USB sticks, macOS stores metadata in hidden files with names
      // like `._tide.gguf`.
      const isModel = !name.startsWith('.') && /\.gguf(\.part)?$/i.test(name)
      if (isModel) files.push(...(await read(path, modelName, name).catch(leaveOut(path))))
    }
  }

  for (const name of await listNames(modelsDirectory)) {
    const directory = join(modelsDirectory, name)
    const members = await listNames(directory).catch(leaveOut(directory))
    await listModel(directory, name, members)
    const inner = members.filter((member) => isModelName(member.toLowerCase()))
    for (const member of inner.filter((one) => !/\.(gguf|part)$/i.test(one))) {
      const path = join(directory, member)
      const modelName = `${hostOfFolder(name)}/${member}`
      await listModel(path, modelName, await listNames(path).catch(leaveOut(path)))
    }
  }
  return files
}

/** The name of the model whose file is at `path`, as `listLocalFiles` returns it: `tide` or `localhost:8000/tide`. */
export function localModelName(modelsDirectory: string, path: string): string {
  const [host, ...name] = relative(modelsDirectory, dirname(path)).split(sep)
  return name.length > 0 ? [hostOfFolder(host ?? ''), ...name].join('/') : (host ?? '')
}

/**
 * Returns an error handler that reports an unreadable path, unless the path no longer exists: a pull that has just
 * finished renames its partial file.
 */
function leftOut(path: string, onUnreadable: (unreadable: Unreadable) => void) {
  return (error: NodeJS.ErrnoException): [] => {
    if (error.code === undefined) throw error
    if (error.code !== 'ENOENT') onUnreadable({ path, why: reasonOfErrno(error) })
    return []
  }
}

/** Returns the names in a directory, sorted; empty if there is no such directory. */
async function listNames(directory: string): Promise<string[]> {
  const names = await readdir(directory).catch((error) => {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return []
    throw error
  })
  return names.sort()
}

/** Rejects if the path is not a regular file: other files have no size, and reading from a pipe would wait forever. */
async function statFile(path: string) {
  const found = await stat(path)
  if (found.isFile()) return found
  throw Object.assign(new Error('not a regular file'), { code: 'ENOTSUP' })
}

async function readFinishedFile(path: string, modelName: string, filename: string) {
  const imported = await readImportRecord(path)
  const found = await statFile(path).catch((error) => {
    if (isErrno(error, 'ENOENT') && imported !== undefined) return undefined
    throw error
  })
  if (found === undefined) return await readMissingFile(path, modelName, imported)
  const { size, mtime } = found
  const record = await readRecord(path)
  const file: LocalFile = {
    path,
    modelName,
    filename,
    fileSizeBytes: size,
    bytesHere: size,
    isFinished: true,
    isMissing: false,
    imported,
    modifiedAt: mtime,
    target: findLinkTarget(path),
    isVerified: record !== undefined && (await isUnchanged(path, record)),
    record,
  }
  return [file]
}

/** Reads an imported file whose original no longer exists. Rejects if the link no longer exists either. */
async function readMissingFile(
  path: string,
  modelName: string,
  imported: ImportRecord | undefined,
): Promise<LocalFile[]> {
  const { mtime } = await lstat(path)
  const file: LocalFile = {
    path,
    modelName,
    filename: basename(path),
    fileSizeBytes: imported?.file_size_bytes,
    bytesHere: 0,
    isFinished: false,
    isMissing: true,
    imported,
    modifiedAt: mtime,
    target: findLinkTarget(path),
    isVerified: false,
    record: undefined,
  }
  return [file]
}

async function readUnfinishedFile(partialPath: string, modelName: string, partialName: string) {
  const path = partialPath.slice(0, -'.part'.length)
  const { blocks, mtime } = await statFile(partialPath)
  const progress = readPartialProgress(path)
  const file: LocalFile = {
    path,
    modelName,
    filename: partialName.slice(0, -'.part'.length),
    fileSizeBytes: progress?.fileSizeBytes,
    bytesHere: progress?.bytesHere ?? blocks * 512,
    isFinished: false,
    isMissing: false,
    imported: undefined,
    modifiedAt: mtime,
    target: undefined,
    isVerified: false,
    record: undefined,
  }
  return [file]
}
