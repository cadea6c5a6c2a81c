import { computeMemory, type MemoryNeed } from '@shoal/model-file'
import type { LocalModel } from './local-models.ts'

/** With fewer tokens, no model can answer even one sentence. */
const minContextLength = 64
/** The context lengths to choose from if none is set, in tokens. The last one is chosen even if it takes more memory. */
const usualLengths = [65_536, 32_768, 16_384, 8_192] as const
/** The share of the free memory that the keys and values of one conversation may take, if no length is set. */
const maxConversationShare = 1 / 3
/** The share that all conversations together may take then, so that other programs have memory left. */
const maxConversationsShare = 2 / 3

type Settings = {
  /** Context length in tokens; undefined to choose it by the free memory. */
  contextLength: number | undefined
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
  /** The size of the keys and values of one token. */
  bytesPerToken: number
  /** Why the context has this length: a phrase for the log. */
  contextReason: string
  /** Whether a request asked for this length. If not, it is the default, which does not change while a model is loaded. */
  isContextRequested: boolean
}

/** Determines how long a model's conversations may be, how many there can be, and how much memory they take. */
export function createContextPlanner({
  contextLength: setLength,
  slots: maxSlots,
  memoryBytes,
}: Settings) {
  function computeNeed({ facts, fileSizeBytes }: LocalModel, length: number, slots: number) {
    const use = { weightBytes: fileSizeBytes, contextLength: length, conversations: slots }
    return computeMemory(facts, use)
  }

  function countSlots(model: LocalModel, length: number, isEnough: (need: MemoryNeed) => boolean) {
    let slots = maxSlots
    while (slots > 1 && !isEnough(computeNeed(model, length, slots))) slots -= 1
    return slots
  }

  /** `freeBytes` is the memory that is free before the model is loaded. */
  function chooseLength(model: LocalModel, freeBytes: number) {
    const max = model.facts.context_length ?? Number.POSITIVE_INFINITY
    const lengths = usualLengths.map((length) => Math.min(length, max))
    const [shortest = minContextLength] = lengths.slice(-1)
    const fits = (length: number) => {
      const { cacheBytes, totalBytes } = computeNeed(model, length, 1)
      return cacheBytes <= maxConversationShare * (freeBytes - (totalBytes - cacheBytes))
    }
    return lengths.find(fits) ?? shortest
  }

  return {
    /**
     * Plans the conversations of a model. `wanted` is the context length that a request asks for. As many conversations
     * are planned as fit into memory when nothing else is loaded, but at least one.
     */
    planContext(model: LocalModel, wanted: number | undefined, freeBytes: number): ContextPlan {
      const requested = wanted ?? setLength
      const max = model.facts.context_length ?? Number.POSITIVE_INFINITY
      const contextLength =
        requested === undefined
          ? chooseLength(model, freeBytes)
          : Math.min(Math.max(requested, minContextLength), max)
      const { totalBytes, cacheBytes } = computeNeed(model, contextLength, 1)
      const roomBytes = maxConversationsShare * (freeBytes - (totalBytes - cacheBytes))
      const slots = countSlots(
        model,
        contextLength,
        (need) =>
          need.totalBytes <= memoryBytes &&
          (requested !== undefined || need.cacheBytes <= roomBytes),
      )
      return {
        contextLength,
        slots,
        memoryBytes: computeNeed(model, contextLength, slots).totalBytes,
        bytesPerToken: cacheBytes / contextLength,
        contextReason: explain(contextLength, { requested, max }),
        isContextRequested: wanted !== undefined,
      }
    },
  }
}

function explain(
  length: number,
  { requested, max }: { requested: number | undefined; max: number },
): string {
  if (length === max) return "the model's maximum"
  if (requested !== undefined) return 'as set or requested'
  const why = length === usualLengths[0] ? 'the longest default' : 'chosen by the free memory'
  return `${why}; --context-length or SHOAL_CONTEXT_LENGTH changes it`
}
