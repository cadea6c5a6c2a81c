/** The numbers of the documents that contain a term or have a label, in increasing order. */
export class PostingList {
  #numbers = new Uint32Array(0)
  length = 0

  /** Adds a number, which must not be lower than the last number. Adding the last number again has no effect. */
  append(number: number) {
    if (this.length > 0 && this.#numbers[this.length - 1] === number) return
    if (this.length === this.#numbers.length) {
      const grown = new Uint32Array(Math.ceil(1.5 * this.length) + 1)
      grown.set(this.#numbers)
      this.#numbers = grown
    }
    this.#numbers[this.length++] = number
  }

  /** Frees the memory that is reserved for numbers yet to be added. */
  trim() {
    if (this.#numbers.length > this.length) this.#numbers = this.#numbers.slice(0, this.length)
  }

  numbers(): Uint32Array {
    return this.#numbers.subarray(0, this.length)
  }
}
