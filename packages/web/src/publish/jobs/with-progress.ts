import type { FileState, Stage } from './progress-share.ts'

/**
 * Returns a file's state after progress. Within a stage, progress never decreases, even if a chunk is sent again. The
 * stage remains `sending` while a file is both hashed and sent.
 */
export function withProgress(file: FileState, stage: Stage, bytesDone: number): FileState {
  if (stage === 'hashing') {
    const hashed = Math.max(file.bytesHashed, bytesDone)
    const isLater = file.stage !== 'queued' && file.stage !== 'hashing'
    return { ...file, bytesHashed: hashed, ...(!isLater && { stage, bytesDone: hashed }) }
  }
  const isSame = file.stage === stage
  return { ...file, stage, bytesDone: isSame ? Math.max(file.bytesDone, bytesDone) : bytesDone }
}
