/** A number per document. Missing numbers are NaN, which no comparison matches. */
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

  /** The values of these documents. */
  pick(documents: Uint32Array): Float64Array {
    const picked = new Float64Array(documents.length)
    for (let at = 0; at < documents.length; at += 1) {
      picked[at] = this.#values[documents[at] ?? 0] ?? Number.NaN
    }
    return picked
  }
}
