import { memoryOf } from '@shoal/model-file'
import type { LocalModel } from './local-models.ts'

/** Below this no model answers a sentence. */
const shortestContext = 64

type Settings = {
  /** Tokens of a conversation where nobody wishes for another number. */
  contextLength: number
  /** Conversations of one model at a time. */
  slots: number
}

/** How long the conversations of a model may be, and what memory that takes. */
export function contextsOf({ contextLength: usual, slots }: Settings) {
  return {
    /** As long as wished for, and no longer than the model was made for. */
    contextFor: ({ facts }: LocalModel, wanted = usual): number =>
      Math.min(Math.max(wanted, shortestContext), facts.context_length ?? Number.POSITIVE_INFINITY),

    /** Bytes that the loaded model takes with all its conversations. */
    needOf({ facts, fileSizeBytes }: LocalModel, contextLength: number): number {
      const use = { weightBytes: fileSizeBytes, contextLength, conversations: slots }
      return memoryOf(facts, use).totalBytes
    },
  }
}
