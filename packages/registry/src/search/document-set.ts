/** A set of document numbers: one bit per document. */
export class DocumentSet {
  #words: Uint32Array

  /** @param capacity the expected number of documents; the set grows if a higher document number is added */
  constructor(capacity: number) {
    this.#words = new Uint32Array((capacity + 31) >>> 5)
  }

  add(number: number) {
    const at = number >>> 5
    if (at >= this.#words.length) this.#grow(at + 1)
    this.#words[at] = (this.#words[at] ?? 0) | (1 << (number & 31))
  }

  delete(number: number) {
    const at = number >>> 5
    if (at < this.#words.length) this.#words[at] = (this.#words[at] ?? 0) & ~(1 << (number & 31))
  }

  has(number: number): boolean {
    return (((this.#words[number >>> 5] ?? 0) >>> (number & 31)) & 1) === 1
  }

  /** Removes the numbers that are not in `other`. */
  intersect(other: DocumentSet) {
    const words = this.#words
    const others = other.#words
    for (let at = 0; at < words.length; at += 1) words[at] = (words[at] ?? 0) & (others[at] ?? 0)
  }

  /** Removes the numbers for which `test` is false. */
  retain(test: (number: number) => boolean) {
    this.forEach((number) => {
      if (!test(number)) this.delete(number)
    })
  }

  /** Calls `visit` with each number, in increasing order. `visit` may delete that number. */
  forEach(visit: (number: number) => void) {
    const words = this.#words
    for (let at = 0; at < words.length; at += 1) {
      let word = words[at] ?? 0
      while (word !== 0) {
        visit(at * 32 + 31 - Math.clz32(word & -word))
        word &= word - 1
      }
    }
  }

  /** Calls `visit` with each number, in decreasing order. */
  forEachReversed(visit: (number: number) => void) {
    const words = this.#words
    for (let at = words.length - 1; at >= 0; at -= 1) {
      let word = words[at] ?? 0
      while (word !== 0) {
        const bit = 31 - Math.clz32(word)
        visit(at * 32 + bit)
        word &= ~(1 << bit)
      }
    }
  }

  copy(): DocumentSet {
    const copy = new DocumentSet(0)
    copy.#words = this.#words.slice()
    return copy
  }

  count(): number {
    let count = 0
    for (const word of this.#words) count += countBits(word)
    return count
  }

  /** Returns the numbers in increasing order. */
  toArray(): Uint32Array {
    const numbers = new Uint32Array(this.count())
    let length = 0
    this.forEach((number) => {
      numbers[length++] = number
    })
    return numbers
  }

  #grow(minLength: number) {
    const grown = new Uint32Array(Math.max(minLength, 2 * this.#words.length))
    grown.set(this.#words)
    this.#words = grown
  }
}

function countBits(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555)
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333)
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
