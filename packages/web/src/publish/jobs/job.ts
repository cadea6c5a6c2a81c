import { AppError } from '@shoal/core/errors'
import type { ChunkManifest } from '@shoal/model-file/browser'
import type { NewModel } from '@shoal/protocol/client'
import type { Picked } from './picked.ts'

/** What is to be published, as it is kept until it is: another visit goes on with it. */
export type Job = {
  modelName: string
  displayName: string
  /** Whose it is. */
  username: string
  /** What the model was made of, where it was made for this job; undefined for one that was there before. */
  newModel: NewModel | undefined
  files: JobFile[]
}

export type JobFile = {
  filename: string
  sizeBytes: number
  /** When the file was changed last, in milliseconds since 1970. */
  lastModified: number
  handle?: FileSystemFileHandle | undefined
  /** Undefined until the file has been hashed. */
  manifest?: ChunkManifest | undefined
  /** Its id at the registry, once that knows of it. */
  fileId?: string | undefined
  isReady?: boolean | undefined
}

/** The files of a job on the visitor's disk, by name. */
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

/** Gives the SHA-256 of a chunk in lower-case hex. */
type HashChunk = (file: File, index: number) => Promise<string>

/** Why a file that was picked again is not the one the job is about; undefined where it is. */
async function findMismatch(
  expected: JobFile,
  file: File,
  hashChunk: HashChunk,
): Promise<string | undefined> {
  const { filename, sizeBytes, lastModified, manifest } = expected
  if (file.size !== sizeBytes) return `${filename} has a different size than before.`
  if (file.lastModified !== lastModified) return `${filename} has changed since the upload started.`
  const first = manifest?.chunk_hashes[0]?.hash
  if (first === undefined) return undefined
  if ((await hashChunk(file, 0)) === first) return undefined
  return `This ${filename} has different contents.`
}

/** The files of a job among those that were picked. Throws `wrong_files` if not all are there. */
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
