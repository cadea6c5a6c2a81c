/**
 * Returns a random number generator (mulberry32). The generator returns whole numbers from 0 up to, but not including,
 * its argument. The same seed produces the same numbers.
 */
export function seededRandom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

/** Random values for property tests. */
export function randomFrom(seed: number) {
  const below = seededRandom(seed)
  /** A whole number from `least` to `most`, inclusive. */
  const between = (least: number, most: number) => least + below(most - least + 1)
  return {
    between,
    oneOf: <T>(values: readonly T[]): T => values[between(0, values.length - 1)] as T,
    /** A string of random length, made of the given characters. */
    text: (characters: string, least: number, most: number): string =>
      Array.from({ length: between(least, most) }, () => {
        return characters[between(0, characters.length - 1)]
      }).join(''),
  }
}
