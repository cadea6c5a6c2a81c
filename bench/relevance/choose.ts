import { createHash } from 'node:crypto'

export type Choose = ReturnType<typeof chooseFor>

/**
 * Makes pseudorandom choices that depend only on `key` and on the number of earlier choices with the same chooser, so
 * that the choices for one model do not affect those for another.
 */
export function chooseFor(key: string) {
  let count = 0
  /** Returns a number from 0 to less than 1. */
  function next(): number {
    count += 1
    const hash = createHash('sha256').update(`${key} ${count}`).digest()
    return hash.readUInt32BE(0) / 2 ** 32
  }
  return {
    chance: (probability: number) => next() < probability,
    below: (limit: number) => Math.floor(next() * limit),
    pick<T>(choices: readonly T[]): T {
      return choices[Math.floor(next() * choices.length)] as T
    },
    /** Favors the first choices. */
    pickSkewed<T>(choices: readonly T[]): T {
      const random = next()
      return choices[Math.floor(random * random * choices.length)] as T
    },
  }
}
