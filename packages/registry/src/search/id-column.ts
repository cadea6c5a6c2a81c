/** The ID of each document, a UUID, as four 32-bit numbers: as text, a million of them would take 60 MB. */
export class IdColumn {
  #parts = new Uint32Array(4 * 64)

  set(document: number, id: string) {
    if (4 * document >= this.#parts.length) {
      const grown = new Uint32Array(4 * (Math.ceil(1.5 * document) + 1))
      grown.set(this.#parts)
      this.#parts = grown
    }
    const hex = id.replaceAll('-', '')
    for (let part = 0; part < 4; part += 1) {
      this.#parts[4 * document + part] = Number.parseInt(hex.slice(8 * part, 8 * part + 8), 16)
    }
  }

  /** Compares the IDs of two documents in their alphabetical order. */
  compare(a: number, b: number): number {
    for (let part = 0; part < 4; part += 1) {
      const difference = (this.#parts[4 * a + part] ?? 0) - (this.#parts[4 * b + part] ?? 0)
      if (difference !== 0) return difference
    }
    return 0
  }
}
