/** The words of each document's name and display name, in order and without duplicates, as term numbers. */
export class NameWords {
  #terms = new Uint32Array(256)
  #starts = new Uint32Array(64)
  #documents = 0

  /** Adds the words of the next document. Documents are numbered from 0, in the order in which they are added. */
  add(terms: readonly number[]) {
    const start = this.#starts[this.#documents] ?? 0
    this.#documents += 1
    if (this.#documents >= this.#starts.length) this.#starts = grow(this.#starts, 0)
    if (start + terms.length > this.#terms.length) this.#terms = grow(this.#terms, terms.length)
    this.#terms.set(terms, start)
    this.#starts[this.#documents] = start + terms.length
  }

  /** The terms of all names, one document after the other, and the index at which each document's terms begin. */
  get all(): { terms: Uint32Array; starts: Uint32Array } {
    return { terms: this.#terms, starts: this.#starts }
  }
}

function grow(values: Uint32Array<ArrayBuffer>, added: number): Uint32Array<ArrayBuffer> {
  const grown = new Uint32Array(Math.ceil(1.5 * values.length) + added)
  grown.set(values)
  return grown
}
