import type { LlamaModel, Token } from 'node-llama-cpp'
import type { TokenLogprob, TokenLogprobs } from '../runtime.ts'
import { tokenBytes } from './token-bytes.ts'

/** JSON cannot express minus infinity; OpenAI's API does the same. */
const lowest = -9999

/** `probabilities` has the most likely tokens first. */
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
    top_logprobs: [...probabilities.keys()].slice(0, topCount).map(toLogprob),
  }
}

/** Holds back the log probabilities of tokens until their text is output: a stop string is not part of an answer. */
export function logprobsInStep() {
  const held: { upTo: number; logprobs: TokenLogprobs }[] = []
  let taken = 0
  let given = 0

  return {
    /** A token, with its text. */
    take(text: string, logprobs: TokenLogprobs) {
      taken += text.length
      held.push({ upTo: taken, logprobs })
    },
    /** Returns those of the text that has been output so far. */
    give(text: string): TokenLogprobs[] {
      given += text.length
      const count = held.findIndex(({ upTo }) => upTo > given)
      return held.splice(0, count === -1 ? held.length : count).map(({ logprobs }) => logprobs)
    },
  }
}
