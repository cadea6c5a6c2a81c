/** The ID (UUID) of each document, stored as four 32-bit numbers. As text, a million IDs would take 60 MB. */
export class IdColumn {
  #parts = new Uint32Array(4 * 64)

  set(document: number, id: string) {
    if (4 * document >= this.#parts.length) {
      const grown = new Uint32Array(4 * (Math.ceil(1.5 * document) + 1))
      grown.set(this.#parts)
      this.#parts = grown
    }
    this.#parts.set(parseId(id), 4 * document)
  }

  get(document: number): string {
    const parts = Array.from(this.#parts.subarray(4 * document, 4 * document + 4))
    return parts
      .map((part) => part.toString(16).padStart(8, '0'))
      .join('')
      .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  }

  /** Returns the first 52 bits of an ID as a number. */
  getPrefix(document: number): number {
    const [first = 0, second = 0] = [this.#parts[4 * document], this.#parts[4 * document + 1]]
    return first * 2 ** 20 + (second >>> 12)
  }

  /** Compares the IDs of two documents alphabetically: negative if that of `a` comes first, and 0 if they are equal. */
  compare(a: number, b: number): number {
    return this.compareWith(a, this.#parts, 4 * b)
  }

  /** Like `compare`, but the second ID begins at `start` in `parts`. */
  compareWith(document: number, parts: Uint32Array, start = 0): number {
    for (let part = 0; part < 4; part += 1) {
      const difference = (this.#parts[4 * document + part] ?? 0) - (parts[start + part] ?? 0)
      if (difference !== 0) return difference
    }
    return 0
  }
}

export function parseId(id: string): Uint32Array {
  const hex = id.replaceAll('-', '')
  return Uint32Array.from({ length: 4 }, (_, part) =>
    Number.parseInt(hex.slice(8 * part, 8 * part + 8), 16),
  )
}
