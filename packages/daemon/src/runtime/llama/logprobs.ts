import type { LlamaModel, Token } from 'node-llama-cpp'
import type { TokenLogprob, TokenLogprobs } from '../runtime.ts'
import { tokenBytes } from './token-bytes.ts'

/** Replaces minus infinity, which JSON cannot express. OpenAI's API returns the same value. */
const lowest = -9999

/**
 * Returns the log probabilities of a token and of the most likely tokens. `probabilities` must be sorted, with the most
 * likely tokens first.
 */
export function createLogprobs(
  model: LlamaModel,
  token: Token,
  probabilities: Map<Token, number>,
  topCount: number,
): TokenLogprobs {
  const toLogprob = (one: Token): TokenLogprob => {
    const text = model.detokenize([one], true)
    const logprob = Math.max(Math.log(probabilities.get(one) ?? 0), lowest)
    return { token: text, logprob, bytes: tokenBytes(model, one) }
  }
  return {
    ...toLogprob(token),
    top_logprobs: [...probabilities.keys().take(topCount).map(toLogprob)],
  }
}

/**
 * Holds back the log probabilities of tokens until the tokens' text is output. A token's text is never output if it
 * turns out to be part of a stop string.
 */
export function logprobsInStep() {
  const held: { upTo: number; logprobs: TokenLogprobs }[] = []
  let taken = 0
  let given = 0

  return {
    /** Adds a token's text and log probabilities. */
    take(text: string, logprobs: TokenLogprobs) {
      taken += text.length
      held.push({ upTo: taken, logprobs })
    },
    /** Call this when text is output. Returns the log probabilities of the tokens whose text is then complete. */
    give(text: string): TokenLogprobs[] {
      given += text.length
      const count = held.findIndex(({ upTo }) => upTo > given)
      return held.splice(0, count === -1 ? held.length : count).map(({ logprobs }) => logprobs)
    },
  }
}
