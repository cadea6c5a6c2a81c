import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { getSystemErrorMessage } from 'node:util'
import { readPartialProgress } from '../disk/partial-file.ts'
import { type LocalFileRecord, readRecord } from '../disk/record.ts'

/** A model file on this machine, whole or not. */
export type LocalFile = {
  /** Where it stands, or will stand when it is finished. */
  path: string
  /** The name of the directory that holds it. */
  modelName: string
  filename: string
  /** Of the finished file; undefined for an unfinished one whose journal cannot be read. */
  fileSizeBytes: number | undefined
  /** How much is here: all of a finished file. */
  bytesHere: number
  isFinished: boolean
  modifiedAt: Date
  /** Undefined for a file that shoal did not pull, and for an unfinished one. */
  record: LocalFileRecord | undefined
}

/** Something among the models that cannot be looked at, and why, as in `permission denied`. */
export type Unreadable = { path: string; why: string }

/**
 * Every `<models>/<name>/*.gguf`, finished or not, by model and filename. What cannot be read is told and left out: one
 * such entry is no reason to do without the others.
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
  for (const modelName of await listNames(modelsDirectory)) {
    const directory = join(modelsDirectory, modelName)
    for (const name of await listNames(directory).catch(leftOut(directory, onUnreadable))) {
      const path = join(directory, name)
      const read = name.endsWith('.gguf') ? readFinishedFile : readUnfinishedFile
      const isModel = name.endsWith('.gguf') || name.endsWith('.gguf.part')
      if (isModel)
        files.push(...(await read(path, modelName, name).catch(leftOut(path, onUnreadable))))
    }
  }
  return files
}

/** Nothing is told of what is gone: a pull that ends just now renames its file. */
function leftOut(path: string, onUnreadable: (unreadable: Unreadable) => void) {
  return (error: NodeJS.ErrnoException): [] => {
    if (error.code === undefined) throw error
    const { errno, message } = error
    const why = errno === undefined ? message : getSystemErrorMessage(errno)
    if (error.code !== 'ENOENT') onUnreadable({ path, why: why ?? message })
    return []
  }
}

/** Sorted; empty where there is no such directory. */
async function listNames(directory: string): Promise<string[]> {
  const names = await readdir(directory).catch((error) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return []
    throw error
  })
  return names.sort()
}

/** Nothing else has a size, and who reads a pipe waits forever. */
async function statFile(path: string) {
  const found = await stat(path)
  if (found.isFile()) return found
  throw Object.assign(new Error('it is no file'), { code: 'ENOTSUP' })
}

async function readFinishedFile(path: string, modelName: string, filename: string) {
  const { size, mtime } = await statFile(path)
  const file: LocalFile = {
    path,
    modelName,
    filename,
    fileSizeBytes: size,
    bytesHere: size,
    isFinished: true,
    modifiedAt: mtime,
    record: await readRecord(path),
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
    modifiedAt: mtime,
    record: undefined,
  }
  return [file]
}
