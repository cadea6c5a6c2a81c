import { bytesHashed, type JobFile } from './job.ts'

/** A file of a job, and what is being done with it. */
export type FileState = {
  filename: string
  sizeBytes: number
  stage: Stage | 'queued'
  /** Number of bytes processed in this stage. */
  bytesDone: number
}

export type Stage = 'hashing' | 'sending' | 'checking' | 'ready' | 'refused'

/**
 * How long it takes to hash a byte compared to sending it: a browser hashes about 150 MB/s, and many connections send
 * less than 40 MB/s. The ratio only affects how evenly the bar moves.
 */
const hashingShare = 0.2

/** The state of a file at the start of a job. */
export function firstState(file: JobFile): FileState {
  const { filename, sizeBytes, isReady } = file
  if (isReady) return { filename, sizeBytes, stage: 'ready', bytesDone: sizeBytes }
  const bytesDone = bytesHashed(file)
  return { filename, sizeBytes, stage: bytesDone > 0 ? 'hashing' : 'queued', bytesDone }
}

/**
 * The completed fraction of a job, from 0 to 1, which counts hashing and sending. It can be smaller than before if the
 * registry asks for chunks again.
 */
export function progressShare(files: readonly FileState[]): number {
  const total = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  const done = files.reduce((sum, file) => sum + fileShare(file) * file.sizeBytes, 0)
  return total === 0 ? 0 : done / total
}

function fileShare({ stage, bytesDone, sizeBytes }: FileState): number {
  const share = sizeBytes === 0 ? 1 : Math.min(1, bytesDone / sizeBytes)
  if (stage === 'queued') return 0
  if (stage === 'hashing') return share * hashingShare
  if (stage === 'sending') return hashingShare + share * (1 - hashingShare)
  return 1
}
