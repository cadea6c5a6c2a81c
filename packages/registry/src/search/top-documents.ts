import type { Selected } from './select-page.ts'

/** Orders documents with equal keys: negative if `a` comes first. */
type BreakTie = (a: number, b: number) => number

/**
 * Of all offered documents, keeps the `size` documents with the largest keys. They are stored in a binary heap with the
 * lowest-ranked of them on top, so that most other documents are rejected by comparing two numbers.
 */
export class TopDocuments {
  #size: number
  #breakTie: BreakTie
  #heap: Selected[] = []
  /** The minimum key with which a document can still be accepted. */
  #minKey = Number.NEGATIVE_INFINITY

  constructor(size: number, breakTie: BreakTie) {
    this.#size = size
    this.#breakTie = breakTie
  }

  offer(document: number, key: number) {
    if (key < this.#minKey || this.#size === 0) return
    const heap = this.#heap
    const offered = { document, key }
    if (heap.length < this.#size) {
      heap.push(offered)
      this.#moveUp(heap.length - 1)
    } else {
      if (this.#compare(offered, heap[0] as Selected) > 0) return
      heap[0] = offered
      this.#moveDown()
    }
    if (heap.length === this.#size) this.#minKey = heap[0]?.key ?? Number.NEGATIVE_INFINITY
  }

  /** Returns the documents in order. */
  toArray(): Selected[] {
    return this.#heap.toSorted((a, b) => this.#compare(a, b))
  }

  /** Negative if `a` comes first. */
  #compare(a: Selected, b: Selected): number {
    return b.key - a.key || this.#breakTie(a.document, b.document)
  }

  #moveUp(from: number) {
    const heap = this.#heap
    for (let at = from; at > 0; ) {
      const parent = (at - 1) >>> 1
      if (this.#isOrdered(parent, at)) return
      ;[heap[parent], heap[at]] = [heap[at] as Selected, heap[parent] as Selected]
      at = parent
    }
  }

  #moveDown() {
    const heap = this.#heap
    for (let at = 0; ; ) {
      const left = 2 * at + 1
      if (left >= heap.length) return
      const right = left + 1
      const child = right < heap.length && !this.#isOrdered(left, right) ? right : left
      if (this.#isOrdered(at, child)) return
      ;[heap[child], heap[at]] = [heap[at] as Selected, heap[child] as Selected]
      at = child
    }
  }

  /**
   * Whether the element at `above` may stay above the element at `below` in the heap. An element must not be above an
   * element that ranks lower.
   */
  #isOrdered(above: number, below: number): boolean {
    return this.#compare(this.#heap[above] as Selected, this.#heap[below] as Selected) >= 0
  }
}
