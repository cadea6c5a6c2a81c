import type { CustomBatchingPrioritizationStrategy } from 'node-llama-cpp'

/**
 * How many times a batch is postponed to wait for conversations that are about to request their next token. Each
 * postponement lasts one turn of the microtask queue.
 */
const maxTurns = 16

/**
 * Fills each batch with tokens from every active conversation. By default, the library starts to compute as soon as one
 * conversation has a token to process. Four conversations would then take turns instead of sharing a batch. Each of the
 * library's items contains the waiting tokens of one conversation. Single tokens come before long prompts. Items of
 * equal length are sorted by slot, because llama.cpp computes adjacent slots together and other slots one after the
 * other. An item's priority is the number of its slot.
 */
export function batchTogether(
  runningCount: () => number,
  onBatch: (conversations: number, tokens: number) => void,
): CustomBatchingPrioritizationStrategy {
  let turns = 0
  return ({ items, size }) => {
    if (items.length < runningCount() && turns < maxTurns) {
      turns += 1
      return []
    }
    turns = 0
    let room = size
    const inOrder = items.toSorted(
      (one, other) =>
        one.tokens.length - other.tokens.length ||
        one.evaluationPriority - other.evaluationPriority,
    )
    const batch = inOrder.flatMap((item) => {
      const processAmount = Math.min(item.tokens.length, room)
      room -= processAmount
      return processAmount > 0 ? [{ item, processAmount }] : []
    })
    if (batch.length > 0) onBatch(batch.length, size - room)
    return batch
  }
}
