import { computeMemory, type MemoryNeed } from '@shoal/model-file'
import type { LocalModel } from './local-models.ts'

/** The minimum context length in tokens. With a shorter context, no model can answer even a prompt of one sentence. */
const minContextLength = 64
/** The lengths to choose from if none is set, in tokens. The last one is chosen even if it exceeds the memory share. */
const usualLengths = [65_536, 32_768, 16_384, 8_192] as const
/**
 * The maximum share of the memory that the model's weights leave free, for the keys and values of one conversation, if
 * no length is set.
 */
const maxConversationShare = 1 / 3
/**
 * The maximum share of the memory that the model's weights leave free, for the keys and values of all conversations
 * together, if no length is set. The rest is left for other programs.
 */
const maxConversationsShare = 2 / 3

type Settings = {
  /** Context length in tokens; undefined to choose a length that fits the free memory. */
  contextLength: number | undefined
  /** The maximum number of concurrent conversations per model. */
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
  /** The reason for this length, as a phrase for the log. */
  contextReason: string
  /**
   * Whether a request specified the length. Otherwise, the length is the default, which is fixed while a model is
   * loaded.
   */
  isContextRequested: boolean
}

/**
 * Returns a planner that determines a model's context length, its maximum number of concurrent conversations, and the
 * memory that the model needs.
 */
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

  /** Returns the default context length. `freeBytes` is the memory that is free before the model is loaded. */
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
     * Plans a model's conversations. `wanted` is the context length that a request asks for. The number of
     * conversations is the largest for which the model fits into the memory for all models. If no length is requested
     * or set, the conversations must also fit into a share of the free memory. There is always at least one
     * conversation.
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
  if (requested !== undefined) return 'the length that was set or requested'
  const why =
    length === usualLengths[0]
      ? 'the longest of the default lengths'
      : 'chosen to fit the free memory'
  return `${why}; to change the length, set --context-length or SHOAL_CONTEXT_LENGTH`
}
