import type { Token } from 'node-llama-cpp'
import { describe, expect, it } from 'vitest'
import { ownSampler } from './own-sampler.ts'

const unfiltered: Parameters<typeof ownSampler>[0] = {
  ...{ temperature: 1, topK: 0, topP: 1, minP: 0, seed: 7 },
}

/** The tokens 0 to 3, with probabilities of 0.5, 0.3, 0.15 and 0.05. */
const probabilities = new Map([0.5, 0.3, 0.15, 0.05].map((one, token) => [token as Token, one]))

/** How often each token is chosen in 2,000 draws. */
function draw(options: Partial<typeof unfiltered>): number[] {
  const sample = ownSampler({ ...unfiltered, ...options })
  const counts = [0, 0, 0, 0]
  for (let round = 0; round < 2_000; round += 1) {
    const token = sample(probabilities)
    counts[token] = (counts[token] ?? 0) + 1
  }
  return counts
}

const drawnTokens = (options: Partial<typeof unfiltered>) =>
  draw(options).flatMap((count, token) => (count > 0 ? [token] : []))

describe('ownSampler', () => {
  it('draws each token with its probability', () => {
    for (const [token, count] of draw({}).entries()) {
      expect(count / 2_000).toBeCloseTo(probabilities.get(token as Token) ?? 0, 1)
    }
  })

  it('prefers likely tokens at a low temperature, and always chooses the first at 0', () => {
    expect(draw({ temperature: 0.3 })[0]).toBeGreaterThan(1_500)
    expect(drawnTokens({ temperature: 0 })).toEqual([0])
  })

  it('applies top-k, then top-p to the rest, then min-p', () => {
    expect(drawnTokens({ topK: 3 })).toEqual([0, 1, 2])
    expect(drawnTokens({ topP: 0.79 })).toEqual([0, 1])
    expect(drawnTokens({ topK: 2, topP: 0.6 })).toEqual([0]) // 0.5 / 0.8 is more than 0.6
    expect(drawnTokens({ minP: 0.2 })).toEqual([0, 1, 2])
  })

  it('removes the top choices after min-p with the given probability, except the least likely', () => {
    expect(drawnTokens({ xtc: { probability: 1, threshold: 0.1 } })).toEqual([2, 3])
    expect(drawnTokens({ xtc: { probability: 1, threshold: 0.1 }, minP: 0.2 })).toEqual([2])
    expect(drawnTokens({ xtc: { probability: 1, threshold: 0.6 } })).toEqual([0, 1, 2, 3])
    expect(drawnTokens({ xtc: { probability: 1, threshold: 0.1 }, temperature: 0 })).toEqual([2])
    const [first = 0] = draw({ xtc: { probability: 0.5, threshold: 0.1 } })
    expect(first / 2_000).toBeCloseTo(0.25, 1)
  })

  it('always keeps the most likely token', () => {
    expect(drawnTokens({ topP: 0 })).toEqual([0])
    expect(drawnTokens({ minP: 1 })).toEqual([0])
  })

  it('chooses the same tokens for the same seed', () => {
    const choose = (seed: number) => {
      const sample = ownSampler({ ...unfiltered, seed })
      return Array.from({ length: 20 }, () => sample(probabilities))
    }
    expect(choose(1)).toEqual(choose(1))
    expect(choose(1)).not.toEqual(choose(2))
  })

  it('fails if no token has a probability', () => {
    expect(() => ownSampler(unfiltered)(new Map())).toThrow('no probability')
  })
})
