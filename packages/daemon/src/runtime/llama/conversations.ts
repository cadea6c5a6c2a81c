/** The conversations of a model: the slots of one context, in which prompts are read and tokens are generated. */
import type { EvaluationPriority, LlamaModel, SequenceEvaluateOptions, Token } from 'node-llama-cpp'
import type { RuntimeOptions } from '../runtime.ts'
import { batchTogether } from './batch-together.ts'
import { betweenBatches } from './between-batches.ts'
import { yieldTopProbability } from './llama-internals.ts'
import { openPromptCache } from './prompt-cache.ts'
import { commonLength, slots as newSlots, type Slot } from './slots.ts'

/** The number of tokens in each part of a long prompt. Between two parts, the request can be canceled. */
const readAtOnce = 512

type Settings = Pick<RuntimeOptions, 'contextLength' | 'slots' | 'threads' | 'promptCache'> & {
  /** Called before each batch, with the number of threads of the previous batch. */
  onBatch: (conversations: number, tokens: number, lastThreads: number) => void
}

export async function openConversations(model: LlamaModel, settings: Settings) {
  const { contextLength, slots: slotCount, threads, onBatch } = settings
  /** The number of conversations that will have tokens for the next batch. */
  let generating = 0
  const context = await model.createContext({
    contextSize: contextLength,
    sequences: slotCount,
    threads,
    batchSize: Math.min(readAtOnce, contextLength),
    flashAttention: 'auto',
    batching: {
      itemPrioritizationStrategy: batchTogether(
        () => generating,
        (conversations, tokens) => onBatch(conversations, tokens, context.currentThreads),
      ),
    },
  })
  yieldTopProbability(context)
  const promptCache = openPromptCache(settings.promptCache)
  const slots = newSlots(Array.from({ length: slotCount }, () => context.getSequence()))
  const upkeep = betweenBatches()

  /** Removes from the slot everything after the prefix that it has in common with `tokens`. */
  async function forgetFrom(slot: Slot, tokens: Token[]) {
    const { sequence } = slot
    const common = commonLength(slot, tokens)
    if (common === sequence.nextTokenIndex) return
    await upkeep.run(() => sequence.adaptStateToTokens(tokens.slice(0, common), false))
  }

  return {
    take: slots.take,
    release: slots.release,
    freeCache: promptCache.clear,

    /**
     * Caches the slot's conversation, and restores a cached conversation that the prompt continues. Resolves to the
     * number of the prompt's tokens that are then in the slot.
     */
    async restore(slot: Slot, tokens: Token[]): Promise<number> {
      await upkeep.run(() => promptCache.prepare(slot, tokens))
      await forgetFrom(slot, tokens)
      return slot.sequence.nextTokenIndex
    },

    /**
     * Processes the tokens of a prompt that are not in the slot, in parts, so that a canceled request stops soon.
     * Leaves the last part unprocessed, and resolves to its tokens.
     */
    async read({ sequence }: Slot, tokens: Token[], signal: AbortSignal): Promise<Token[]> {
      let unread = tokens.slice(sequence.nextTokenIndex)
      while (unread.length > readAtOnce) {
        await upkeep.turn()
        generating += 1
        try {
          await sequence.evaluateWithoutGeneratingNewTokens(unread.slice(0, readAtOnce))
        } finally {
          generating -= 1
        }
        signal.throwIfAborted()
        unread = unread.slice(readAtOnce)
      }
      return unread
    },

    /**
     * Starts to generate tokens after the unread tokens of the prompt. With `topProbability`, which needs
     * `probabilities`, the `confidence` of each step is the probability of the most likely token among all. The caller
     * must call `end` at the end.
     */
    generate(
      { sequence, index }: Slot,
      unread: Token[],
      wants: { probabilities: boolean; topProbability: boolean },
      evaluation: SequenceEvaluateOptions,
    ) {
      const { probabilities, topProbability: confidence } = wants
      const metadata = { probabilities, confidence } as { probabilities: true; confidence: true }
      const evaluationPriority = index as EvaluationPriority
      const steps = sequence.evaluateWithMetadata(unread, metadata, {
        ...evaluation,
        evaluationPriority,
      })
      generating += 1
      return {
        /** Generates the next token. `chosen` replaces the previous token. */
        async next(chosen: Token | undefined) {
          await upkeep.turn()
          return await steps.next(chosen)
        },
        async end() {
          generating -= 1
          await steps.return()
        },
      }
    },
  }
}
