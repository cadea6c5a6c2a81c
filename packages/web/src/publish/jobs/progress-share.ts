import { bytesHashed, type JobFile } from './job.ts'

/** A file of a job, and its progress. */
export type FileState = {
  filename: string
  sizeBytes: number
  stage: Stage | 'queued'
  /** Number of bytes processed in this stage. */
  bytesDone: number
  /** Number of bytes that have been hashed. A large file is sent while it is being hashed. */
  bytesHashed: number
}

export type Stage = 'hashing' | 'sending' | 'checking' | 'ready' | 'refused'

/**
 * The estimated time to hash a byte, as a fraction of the time to hash and send it. A browser hashes about 150 MB/s,
 * and many connections send less than 40 MB/s. The fraction only affects how evenly the bar moves.
 */
const hashingShare = 0.2

/** Returns the state of a file at the start of a job. */
export function firstState(file: JobFile): FileState {
  const { filename, sizeBytes, isReady } = file
  if (isReady)
    return { filename, sizeBytes, stage: 'ready', bytesDone: sizeBytes, bytesHashed: sizeBytes }
  const hashed = bytesHashed(file)
  const stage = hashed > 0 ? 'hashing' : 'queued'
  return { filename, sizeBytes, stage, bytesDone: hashed, bytesHashed: hashed }
}

/**
 * Returns the completed fraction of a job, from 0 to 1, including both hashing and sending. The fraction can decrease
 * if the registry requests chunks again.
 */
export function progressShare(files: readonly FileState[]): number {
  const total = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  const done = files.reduce((sum, file) => sum + fileShare(file) * file.sizeBytes, 0)
  return total === 0 ? 0 : done / total
}

function fileShare({ stage, bytesDone, bytesHashed: hashed, sizeBytes }: FileState): number {
  if (stage === 'queued') return 0
  if (stage !== 'hashing' && stage !== 'sending') return 1
  const sent = stage === 'sending' ? bytesDone : 0
  const toShare = (bytes: number) => (sizeBytes === 0 ? 1 : Math.min(1, bytes / sizeBytes))
  return toShare(hashed) * hashingShare + toShare(sent) * (1 - hashingShare)
}
