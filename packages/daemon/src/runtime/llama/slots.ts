/** Assigns the context's conversations to requests. */
import type { LlamaContextSequence, Token } from 'node-llama-cpp'

export type Slot = {
  sequence: LlamaContextSequence
  index: number
  isTaken: boolean
  usedAt: number
}

/** Prefixes count as similarly long if their lengths differ by fewer tokens than this. */
const minGain = 16

/**
 * Assigns to each request the free slot that already holds the longest prefix of the request's prompt, so that in a
 * chat's next turn, only the new tokens have to be processed. Among slots with prefixes of similar length, those next
 * to slots in use are preferred, because llama.cpp computes the tokens of adjacent slots together, and those of other
 * slots one after another. Ties are resolved in favor of the longest prefix, and then of the least recently used slot.
 * If no slot is free, requests wait in order.
 */
export function slots(sequences: LlamaContextSequence[]) {
  const all = sequences.map(
    (sequence, index): Slot => ({ sequence, index, isTaken: false, usedAt: 0 }),
  )
  const waiting: Waiting[] = []
  let clock = 0

  function takeBest(tokens: Token[]): Slot | undefined {
    const free = all.filter(({ isTaken }) => !isTaken)
    const rated = free.map((slot) => ({
      slot,
      common: commonLength(slot, tokens),
      neighbors: [slot.index - 1, slot.index + 1].filter((index) => all[index]?.isTaken).length,
    }))
    const longest = Math.max(...rated.map(({ common }) => common))
    const [best] = rated
      .filter(({ common }) => longest - common < minGain)
      .toSorted(
        (a, b) => b.neighbors - a.neighbors || b.common - a.common || a.slot.usedAt - b.slot.usedAt,
      )
    const slot = best?.slot
    if (slot) slot.isTaken = true
    return slot
  }

  return {
    async take(tokens: Token[], signal: AbortSignal): Promise<Slot> {
      signal.throwIfAborted()
      const slot = waiting.length === 0 ? takeBest(tokens) : undefined
      return slot ?? turn(tokens, signal)
    },

    /** Frees the slot. If requests are waiting, the one that has waited longest gets a slot. */
    release(slot: Slot) {
      clock += 1
      slot.usedAt = clock
      slot.isTaken = false
      const next = waiting.shift()
      const given = next && takeBest(next.tokens)
      if (given) next.resolve(given)
    },
  }

  function turn(tokens: Token[], signal: AbortSignal): Promise<Slot> {
    const { promise, resolve, reject } = Promise.withResolvers<Slot>()
    const waiter = { tokens, resolve }
    const leave = () => {
      const place = waiting.indexOf(waiter)
      if (place !== -1) waiting.splice(place, 1)
      reject(signal.reason)
    }
    waiting.push(waiter)
    signal.addEventListener('abort', leave, { once: true })
    return promise.finally(() => signal.removeEventListener('abort', leave))
  }
}

type Waiting = { tokens: Token[]; resolve(slot: Slot): void }

/**
 * The number of prompt tokens that the slot has in memory. The prompt's last token is not counted, because it must
 * always be processed to generate the next token.
 */
export function commonLength({ sequence }: Slot, tokens: Token[]): number {
  const { firstDifferentIndex } = sequence.compareContextTokens(tokens)
  return Math.min(firstDifferentIndex, tokens.length - 1)
}
