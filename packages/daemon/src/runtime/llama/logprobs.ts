import type { LlamaModel, Token } from 'node-llama-cpp'
import type { TokenLogprob, TokenLogprobs } from '../runtime.ts'

/** What JSON can say in place of minus infinity; OpenAI's API does the same. */
const lowest = -9999

/** `probabilities` has the most likely tokens first. */
export function logprobsOf(
  model: LlamaModel,
  token: Token,
  probabilities: Map<Token, number>,
  topCount: number,
): TokenLogprobs {
  const of = (one: Token): TokenLogprob => {
    const text = model.detokenize([one], true)
    const logprob = Math.max(Math.log(probabilities.get(one) ?? 0), lowest)
    return { token: text, logprob, bytes: [...Buffer.from(text)] }
  }
  return { ...of(token), top_logprobs: [...probabilities.keys()].slice(0, topCount).map(of) }
}
