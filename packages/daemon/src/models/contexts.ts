import { computeMemory } from '@shoal/model-file'
import type { LocalModel } from './local-models.ts'

/** With fewer tokens, no model can answer even one sentence. */
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
  /** Memory of the loaded model, including all its conversations. */
  memoryBytes: number
}

/** Determines how long a model's conversations may be, how many there can be, and how much memory they take. */
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
    /** The requested context length, or the longest one that the model supports if that is shorter. */
    contextFor: ({ facts }: LocalModel, wanted = defaultLength): number =>
      Math.min(
        Math.max(wanted, minContextLength),
        facts.context_length ?? Number.POSITIVE_INFINITY,
      ),

    /** Plans as many conversations as fit into memory when nothing else is loaded, but at least one. */
    planContext(model: LocalModel, contextLength: number): ContextPlan {
      let slots = maxSlots
      while (slots > 1 && computeNeededBytes(model, contextLength, slots) > memoryBytes) slots -= 1
      return { contextLength, slots, memoryBytes: computeNeededBytes(model, contextLength, slots) }
    },
  }
}
