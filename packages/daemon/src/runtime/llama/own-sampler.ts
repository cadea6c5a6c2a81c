import type { Token } from 'node-llama-cpp'
import type { Sampling } from '../runtime.ts'
import { hashSeed } from './sampling.ts'

type Options = Pick<Sampling, 'temperature' | 'topK' | 'topP' | 'minP' | 'seed'>
type Candidate = [token: Token, probability: number]

/**
 * Chooses a token from the model's own probabilities, which must be sorted, most likely first. Applies filters in the
 * order of llama.cpp's samplers: top-k, top-p, min-p, temperature. Used for requests with log probabilities, because
 * the library reports probabilities only for the candidates that remain after its own filters.
 */
export function ownSampler({ temperature, topK, topP, minP, seed }: Options) {
  const random = seed === undefined ? Math.random : seeded(seed)

  return (probabilities: Map<Token, number>): Token => {
    const all = [...probabilities]
    const [best] = all
    if (!best) throw new Error('the model assigns no probability to any token')
    if (temperature <= 0) return best[0]
    const kept = mostLikely(topK > 0 ? all.slice(0, topK) : all, topP)
    const weighed = kept
      .filter(([, probability]) => probability >= minP * best[1])
      .map(([token, probability]): Candidate => [token, probability ** (1 / temperature)])
    return drawn(weighed.length > 0 ? weighed : [best], random())
  }
}

/** The most likely tokens whose probabilities add up to at least this share; at least one token. */
function mostLikely(candidates: Candidate[], share: number): Candidate[] {
  const total = candidates.reduce((sum, [, probability]) => sum + probability, 0)
  let sum = 0
  const end = candidates.findIndex(([, probability]) => {
    sum += probability
    return sum >= share * total
  })
  return end === -1 ? candidates : candidates.slice(0, end + 1)
}

function drawn(candidates: Candidate[], chance: number): Token {
  const total = candidates.reduce((sum, [, weight]) => sum + weight, 0)
  let left = chance * total
  for (const [token, weight] of candidates) {
    left -= weight
    if (left <= 0) return token
  }
  return (candidates.at(-1) as Candidate)[0]
}

/**
 * A random number generator (Mulberry32) with 32 bits of state. It returns the same numbers for the same seed on every
 * machine.
 */
function seeded(seed: number) {
  let state = hashSeed(seed)
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
