import { AppError } from '@shoal/core/errors'
import type { ChunkManifest } from '@shoal/model-file/browser'
import type { NewModel } from '@shoal/protocol/client'
import type { PartialHash } from '../hashing/partial-hash.ts'
import type { Picked } from './picked.ts'

/**
 * The files to be published, and their model. A job is saved in the browser until it is complete, so that the visitor
 * can resume it later.
 */
export type Job = {
  modelName: string
  displayName: string
  /** The user who publishes the files. */
  username: string
  /** The details of the model if the model was created for this job; undefined if the model already existed. */
  newModel: NewModel | undefined
  files: JobFile[]
}

export type JobFile = {
  filename: string
  sizeBytes: number
  /** When the file was last modified, in milliseconds since 1970. */
  lastModified: number
  handle?: FileSystemFileHandle | undefined
  /** The hashes of the file's first chunks while the file is being hashed. */
  partial?: PartialHash | undefined
  /** The hashes of the file and of its chunks; undefined until the file has been hashed. */
  manifest?: ChunkManifest | undefined
  /** The file's ID in the registry; undefined until the upload has started. */
  fileId?: string | undefined
  isReady?: boolean | undefined
}

/** A job's files on the visitor's disk, keyed by filename. */
export type Sources = ReadonlyMap<string, File>

export const toJobFile = ({ file, handle }: Picked): JobFile => ({
  filename: file.name,
  sizeBytes: file.size,
  lastModified: file.lastModified,
  handle,
})

export const unfinished = ({ files }: Job): JobFile[] => files.filter(({ isReady }) => !isReady)

export const sumBytes = (files: readonly JobFile[]): number =>
  files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)

/** Returns the number of bytes of a job's file that need not be hashed again. */
export function bytesHashed({ sizeBytes, manifest, partial }: JobFile): number {
  if (manifest) return sizeBytes
  return partial?.bytesDone ?? 0
}

/** Computes the SHA-256 of a chunk in lowercase hex. */
type HashChunk = (file: File, index: number) => Promise<string>

/**
 * Returns a message that describes how a chosen file differs from the job's file, or undefined if no difference is
 * found. Compares the size, the modification time and, if its hash is known, the first chunk.
 */
async function findMismatch(
  expected: JobFile,
  file: File,
  hashChunk: HashChunk,
): Promise<string | undefined> {
  const { filename, sizeBytes, lastModified, manifest, partial } = expected
  if (file.size !== sizeBytes)
    return `${filename} has a different size than when the upload started.`
  if (file.lastModified !== lastModified) return `${filename} has changed since the upload started.`
  const first = manifest?.chunk_hashes[0]?.hash ?? partial?.firstHash
  if (first === undefined) return undefined
  if ((await hashChunk(file, 0)) === first) return undefined
  return `${filename} has different contents than when the upload started.`
}

/** Finds the job's unfinished files among the chosen files. Throws `wrong_files` if one is missing or different. */
export async function findSources(
  job: Job,
  picked: readonly File[],
  hashChunk: HashChunk,
): Promise<Sources> {
  const sources = new Map<string, File>()
  const problems: string[] = []
  for (const expected of unfinished(job)) {
    const file = picked.find(({ name }) => name === expected.filename)
    const problem = file
      ? await findMismatch(expected, file, hashChunk)
      : `${expected.filename} is missing from the chosen files.`
    if (problem) problems.push(problem)
    else if (file) sources.set(file.name, file)
  }
  if (problems.length > 0) throw wrongFiles(problems.join(' '))
  return sources
}

export const wrongFiles = (message: string) => new AppError('wrong_files', message, {})
