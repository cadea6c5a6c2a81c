import { computeMemory } from '@shoal/model-file'
import type { LocalModel } from './local-models.ts'

/** Below this, no model can answer a sentence. */
const minContextLength = 64

type Settings = {
  /** Default context length, in tokens. */
  contextLength: number
  /** Concurrent conversations per model, if there is memory for them. */
  slots: number
  /** Memory for all models together. */
  memoryBytes: number
}

export type ContextPlan = {
  contextLength: number
  slots: number
  /** Memory of the loaded model with all its conversations. */
  memoryBytes: number
}

/** How long the conversations of a model may be, how many there can be, and how much memory that takes. */
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
    /** As long as requested, but no longer than the model supports. */
    contextFor: ({ facts }: LocalModel, wanted = defaultLength): number =>
      Math.min(
        Math.max(wanted, minContextLength),
        facts.context_length ?? Number.POSITIVE_INFINITY,
      ),

    /** As many conversations as fit into memory if nothing else is loaded, and at least one. */
    planContext(model: LocalModel, contextLength: number): ContextPlan {
      let slots = maxSlots
      while (slots > 1 && computeNeededBytes(model, contextLength, slots) > memoryBytes) slots -= 1
      return { contextLength, slots, memoryBytes: computeNeededBytes(model, contextLength, slots) }
    },
  }
}
