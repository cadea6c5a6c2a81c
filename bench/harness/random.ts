/** Pseudorandom numbers that are the same in every run. */
export type Random = ReturnType<typeof randomFrom>

export function randomFrom(seed: number) {
  let state = seed >>> 0

  /** Returns a number of at least 0 and less than 1 (mulberry32). */
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }

  return {
    next,
    chance: (probability: number) => next() < probability,
    integer: (below: number) => Math.floor(next() * below),
    pick<T>(choices: readonly T[]): T {
      return choices[Math.floor(next() * choices.length)] as T
    },
    /** Returns a random choice. Earlier choices are more likely, so that a few results are common and most are rare. */
    pickSkewed<T>(choices: readonly T[]): T {
      return choices[Math.floor(next() ** 3 * choices.length)] as T
    },
    hex(digits: number): string {
      let text = ''
      while (text.length < digits)
        text += Math.floor(next() * 65536)
          .toString(16)
          .padStart(4, '0')
      return text.slice(0, digits)
    },
  }
}
