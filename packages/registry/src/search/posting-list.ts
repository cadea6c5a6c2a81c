/** The numbers of the documents with a term or label, in increasing order. */
export class PostingList {
  #numbers = new Uint32Array(0)
  length = 0

  /** Adds a number that is at least the last one; adding the last one again changes nothing. */
  append(number: number) {
    if (this.length > 0 && this.#numbers[this.length - 1] === number) return
    if (this.length === this.#numbers.length) {
      const grown = new Uint32Array(Math.ceil(1.5 * this.length) + 1)
      grown.set(this.#numbers)
      this.#numbers = grown
    }
    this.#numbers[this.length++] = number
  }

  /** Frees the memory that is reserved for more numbers. */
  trim() {
    if (this.#numbers.length > this.length) this.#numbers = this.#numbers.slice(0, this.length)
  }

  numbers(): Uint32Array {
    return this.#numbers.subarray(0, this.length)
  }
}
