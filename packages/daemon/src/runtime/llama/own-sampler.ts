import type { Token } from 'node-llama-cpp'
import type { Sampling } from '../runtime.ts'
import { hashSeed } from './sampling.ts'

type Options = Pick<Sampling, 'temperature' | 'topK' | 'topP' | 'minP' | 'seed' | 'xtc'>
type Candidate = [token: Token, probability: number]

/** More than most requests need, so that rounding is the same for all of them. Up to 128 tokens are sorted quickly. */
const usualCandidates = 64

/**
 * The number of the most likely tokens that a sampler needs to know, if the log probabilities of `topCount` are
 * requested; 0 for all.
 */
export function candidatesNeeded({ temperature, topK, xtc }: Options, topCount: number): number {
  if (temperature <= 0 && !xtc) return Math.max(usualCandidates, topCount)
  return topK > 0 ? Math.max(usualCandidates, topK, topCount) : 0
}

/** Makes the probabilities of some tokens absolute. `best` is the absolute probability of the first. */
export function absolute(probabilities: Map<Token, number>, best: number): Map<Token, number> {
  const [first = 1] = probabilities.values()
  return new Map(probabilities.entries().map(([token, one]) => [token, (one / first) * best]))
}

/**
 * Chooses a token from the model's own probabilities, which must be sorted, most likely first. Applies filters in the
 * order of llama.cpp's samplers: top-k, top-p, min-p, XTC, temperature. Used for requests with log probabilities, because
 * the library reports probabilities only for the candidates that remain after its own filters.
 */
export function ownSampler({ temperature, topK, topP, minP, seed, xtc }: Options) {
  const random = seeded(seed)

  return (probabilities: Map<Token, number>): Token => {
    const likely = filtered(probabilities, { topK, topP, minP })
    const isReduced = xtc && random() < xtc.probability
    const candidates = isReduced ? withoutTopChoices(likely, xtc.threshold) : likely
    const [best] = candidates
    if (!best) throw new Error('the model assigns no probability to any token')
    if (temperature <= 0) return best[0]
    const weighed = candidates.map(
      ([token, probability]): Candidate => [token, probability ** (1 / temperature)],
    )
    return drawn(weighed, random())
  }
}

/**
 * Applies top-k, top-p and min-p. Returns at least one token. Reads no more tokens than necessary, because the map
 * contains the whole vocabulary, often more than 100,000 tokens.
 */
function filtered(
  probabilities: Map<Token, number>,
  { topK, topP, minP }: Pick<Options, 'topK' | 'topP' | 'minP'>,
): Candidate[] {
  const candidates = topK > 0 ? [...probabilities.entries().take(topK)] : probabilities.entries()
  const total = Array.isArray(candidates) ? addUp(candidates) : 1
  const enough = topP < 1 ? topP * total : Number.POSITIVE_INFINITY
  const kept: Candidate[] = []
  let sum = 0
  for (const [token, probability] of candidates) {
    const [best] = kept
    if (best && (sum >= enough || probability < minP * best[1])) break
    kept.push([token, probability])
    sum += probability
  }
  return kept
}

/** Removes all candidates whose share of the probability is at least `threshold`, except the least likely of them. */
function withoutTopChoices(candidates: Candidate[], threshold: number): Candidate[] {
  const enough = threshold * addUp(candidates)
  const count = candidates.filter(([, probability]) => probability >= enough).length
  return candidates.slice(Math.max(0, count - 1))
}

const addUp = (candidates: Candidate[]) => candidates.reduce((sum, [, weight]) => sum + weight, 0)

function drawn(candidates: Candidate[], chance: number): Token {
  let left = chance * addUp(candidates)
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
