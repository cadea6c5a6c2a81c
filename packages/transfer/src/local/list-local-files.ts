import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { progressOfPartial } from '../pull/partial-file.ts'
import { type FileRecord, readRecord } from './record.ts'

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
  record: FileRecord | undefined
}

/** Every `<models>/<name>/*.gguf`, finished or not, by model and filename. */
export async function listLocalFiles(modelsDirectory: string): Promise<LocalFile[]> {
  const files: LocalFile[] = []
  for (const modelName of await namesIn(modelsDirectory)) {
    for (const name of await namesIn(join(modelsDirectory, modelName))) {
      const path = join(modelsDirectory, modelName, name)
      const look = name.endsWith('.gguf') ? finishedFile : unfinishedFile
      const isModel = name.endsWith('.gguf') || name.endsWith('.gguf.part')
      const file = isModel && (await look(path, modelName, name).catch(unlessGone))
      if (file) files.push(file)
    }
  }
  return files
}

/** A pull that ends just now renames its file. */
function unlessGone(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

/** Sorted; empty where there is no such directory. */
async function namesIn(directory: string): Promise<string[]> {
  const names = await readdir(directory).catch((error) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return []
    throw error
  })
  return names.sort()
}

async function finishedFile(path: string, modelName: string, filename: string): Promise<LocalFile> {
  const { size, mtime } = await stat(path)
  return {
    path,
    modelName,
    filename,
    fileSizeBytes: size,
    bytesHere: size,
    isFinished: true,
    modifiedAt: mtime,
    record: await readRecord(path),
  }
}

async function unfinishedFile(
  partialPath: string,
  modelName: string,
  partialName: string,
): Promise<LocalFile> {
  const path = partialPath.slice(0, -'.part'.length)
  const { blocks, mtime } = await stat(partialPath)
  const progress = progressOfPartial(path)
  return {
    path,
    modelName,
    filename: partialName.slice(0, -'.part'.length),
    fileSizeBytes: progress?.fileSizeBytes,
    bytesHere: progress?.bytesHere ?? blocks * 512,
    isFinished: false,
    modifiedAt: mtime,
    record: undefined,
  }
}
