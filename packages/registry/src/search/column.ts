/** One number per document. A missing number is NaN, so that every comparison with it is false. */
export class Column {
  #values = new Float64Array(64).fill(Number.NaN)

  set(document: number, value: number | null) {
    if (document >= this.#values.length) {
      const grown = new Float64Array(Math.ceil(1.5 * document) + 1).fill(Number.NaN)
      grown.set(this.#values)
      this.#values = grown
    }
    this.#values[document] = value ?? Number.NaN
  }

  get(document: number): number {
    return this.#values[document] ?? Number.NaN
  }
}
