import type { Token } from 'node-llama-cpp'

type Setup = {
  /** The maximum number of tokens of the reasoning; negative for no maximum. */
  budget: number
  /** The tokens of the marker that ends the reasoning. */
  closing: readonly Token[]
  writer: { isThinking(): boolean; reasoningTokens(): number }
}

/**
 * Returns a function that returns the token that must come next, if the reasoning has reached its maximum: the tokens
 * of its closing marker, one after another.
 */
export function reasoningLimit({ budget, closing, writer }: Setup): () => Token | undefined {
  let place = 0
  return () => {
    const isOver = budget >= 0 && writer.isThinking() && writer.reasoningTokens() >= budget
    if (!isOver) place = 0
    return isOver ? closing[place++] : undefined
  }
}
