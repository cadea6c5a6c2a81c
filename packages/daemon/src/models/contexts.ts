import { computeMemory } from '@shoal/model-file'
import type { LocalModel } from './local-models.ts'

/** Below this no model answers a sentence. */
const minContextLength = 64

type Settings = {
  /** Tokens of a conversation where nobody wishes for another number. */
  contextLength: number
  /** Conversations of one model at a time, where there is memory for so many. */
  slots: number
  /** What all models together may take. */
  memoryBytes: number
}

export type ContextPlan = {
  contextLength: number
  slots: number
  /** What the loaded model takes with all its conversations. */
  memoryBytes: number
}

/** How long the conversations of a model may be, how many there can be, and what memory that takes. */
export function createContextPlanner({
  contextLength: defaultLength,
  slots: maxSlots,
  memoryBytes,
}: Settings) {
  function computeNeededBytes(
    { facts, fileSizeBytes }: LocalModel,
    contextLength: number,
    slots: number,
  ) {
    const use = { weightBytes: fileSizeBytes, contextLength, conversations: slots }
    return computeMemory(facts, use).totalBytes
  }

  return {
    /** As long as wished for, and no longer than the model was made for. */
    contextFor: ({ facts }: LocalModel, wanted = defaultLength): number =>
      Math.min(
        Math.max(wanted, minContextLength),
        facts.context_length ?? Number.POSITIVE_INFINITY,
      ),

    /** With as many conversations as there is memory for where nothing else is loaded, and one at least. */
    planContext(model: LocalModel, contextLength: number): ContextPlan {
      let slots = maxSlots
      while (slots > 1 && computeNeededBytes(model, contextLength, slots) > memoryBytes) slots -= 1
      return { contextLength, slots, memoryBytes: computeNeededBytes(model, contextLength, slots) }
    },
  }
}
