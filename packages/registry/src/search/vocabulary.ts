import type { DocumentSet } from './document-set.ts'
import { PostingList } from './posting-list.ts'

/**
 * The documents that contain a term. A single document is stored as its number, because most terms are in only one
 * document.
 */
type Postings = PostingList | number

/**
 * Maximum number of unsorted terms, which are searched one by one. Above this number, they are merged into the sorted
 * terms.
 */
const maxUnsorted = 1_000

/** All terms in the index, with the documents that contain them. */
export class Vocabulary {
  #numbers = new Map<string, number>()
  #terms: string[] = []
  #postings: Postings[] = []
  /**
   * The numbers of the sorted terms, in alphabetical order of the terms. Terms with numbers higher than all of these
   * were added later, and are not sorted yet.
   */
  #sorted = new Uint32Array(0)

  /**
   * Adds a document that contains the term, and returns the number of the term. Documents must be added in increasing
   * order of their own numbers.
   */
  add(term: string, document: number): number {
    const number = this.#numbers.get(term)
    if (number === undefined) {
      this.#numbers.set(term, this.#terms.length)
      this.#terms.push(term)
      return this.#postings.push(document) - 1
    }
    const found = this.#postings[number]
    if (typeof found === 'object') {
      found.append(document)
    } else if (found !== document) {
      const postings = new PostingList()
      postings.append(found ?? 0)
      postings.append(document)
      this.#postings[number] = postings
    }
    return number
  }

  /** The number of terms, which are numbered from 0. */
  get size(): number {
    return this.#terms.length
  }

  /**
   * Returns the numbers of the terms that begin with `prefix`, and the number of the term that is equal to `prefix`, if
   * there is one.
   */
  find(prefix: string): { equal: number | undefined; beginning: Iterable<number> } {
    return { equal: this.#numbers.get(prefix), beginning: this.#withPrefix(prefix) }
  }

  /** Adds the documents that contain a term with this prefix to `documents`. */
  addDocuments(prefix: string, documents: DocumentSet) {
    for (const number of this.#withPrefix(prefix)) {
      const postings = this.#postings[number] ?? 0
      if (typeof postings === 'number') documents.add(postings)
      else for (const document of postings.numbers()) documents.add(document)
    }
  }

  /**
   * Whether one of these documents contains a term that begins with `prefix`. If `match` is `equal`, the term must be
   * `prefix` itself.
   */
  has(prefix: string, documents: DocumentSet, match: 'beginning' | 'equal' = 'beginning'): boolean {
    if (match === 'equal') {
      const number = this.#numbers.get(prefix)
      return number !== undefined && this.#isIn(number, documents)
    }
    for (const number of this.#withPrefix(prefix)) if (this.#isIn(number, documents)) return true
    return false
  }

  /** Returns the characters that follow `prefix` in any term. */
  nextCharacters(prefix: string): Set<string> {
    const found = new Set<string>()
    const { length } = prefix
    for (let at = this.#findFirst(prefix); at < this.#sorted.length; ) {
      const term = this.#terms[this.#sorted[at] ?? 0] ?? ''
      if (!term.startsWith(prefix)) break
      const next = term.charAt(length)
      if (next === '') {
        at += 1
        continue
      }
      found.add(next)
      at = this.#findFirst(prefix + String.fromCharCode(next.charCodeAt(0) + 1))
    }
    for (let number = this.#sorted.length; number < this.#terms.length; number += 1) {
      const term = this.#terms[number] ?? ''
      if (term.length > length && term.startsWith(prefix)) found.add(term.charAt(length))
    }
    return found
  }

  /** Sorts the terms and frees reserved memory. Should be called after many documents have been added. */
  settle() {
    this.#sort()
    for (const postings of this.#postings) {
      if (typeof postings === 'object') postings.trim()
    }
  }

  #isIn(number: number, documents: DocumentSet): boolean {
    const postings = this.#postings[number] ?? 0
    if (typeof postings === 'number') return documents.has(postings)
    return postings.numbers().some((document) => documents.has(document))
  }

  *#withPrefix(prefix: string): Generator<number> {
    if (this.#terms.length - this.#sorted.length > maxUnsorted) this.#sort()
    for (let at = this.#findFirst(prefix); at < this.#sorted.length; at += 1) {
      const number = this.#sorted[at] ?? 0
      if (!this.#terms[number]?.startsWith(prefix)) break
      yield number
    }
    for (let number = this.#sorted.length; number < this.#terms.length; number += 1) {
      if (this.#terms[number]?.startsWith(prefix)) yield number
    }
  }

  /** Returns the position of the first sorted term that is not less than `text`. */
  #findFirst(text: string): number {
    let low = 0
    let high = this.#sorted.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#terms[this.#sorted[middle] ?? 0] ?? '') < text) low = middle + 1
      else high = middle
    }
    return low
  }

  #sort() {
    const terms = this.#terms
    const compare = (a: number, b: number) => ((terms[a] ?? '') < (terms[b] ?? '') ? -1 : 1)
    const old = this.#sorted
    const added = Array.from({ length: terms.length - old.length }, (_, at) => old.length + at)
    added.sort(compare)
    const merged = new Uint32Array(terms.length)
    let next = 0
    let place = 0
    for (const number of old) {
      for (; next < added.length && compare(added[next] ?? 0, number) < 0; next += 1) {
        merged[place++] = added[next] ?? 0
      }
      merged[place++] = number
    }
    for (; next < added.length; next += 1) merged[place++] = added[next] ?? 0
    this.#sorted = merged
  }
}
