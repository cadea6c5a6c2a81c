import type { Labels } from './labels.ts'
import type { NameWords } from './name-words.ts'
import type { Vocabulary } from './vocabulary.ts'

/**
 * The points that a document gets for a query. In the following, its name is the model's name followed by the display
 * name. The values were fitted to queries with relevance judgments (`npm run bench -- relevance`).
 */
const points = {
  /** For each word of the query that is one of the name's words, or a prefix of one. */
  inName: 5,
  /** For each word of the query that is a tag or the architecture. */
  label: 5,
  /** For each pair of words that are adjacent, in the same order, in both the query and the name. */
  adjacent: 5,
  /**
   * Multiplied by the share of the name's words that are in the query. A word in the name that only begins with a word
   * of the query counts as half a word.
   */
  coverage: 50,
  /** If the query contains all of the name's words. */
  wholeName: 100,
  /** If the first word of the name is equal to the first word of the query. */
  start: 2,
  /** For each factor of ten in the number of downloads (on a logarithmic scale). */
  downloads: 16,
}

type Score = (document: number, downloads: number) => number

/**
 * Scores how well documents match a query. Words in descriptions give no points, because descriptions often mention
 * other models.
 */
export class Relevance {
  #vocabulary: Vocabulary
  #names: NameWords
  #labels: Labels
  /**
   * By term number: bits 0 to 15 are set for the query words that are equal to the term, and bits 16 to 31 for those
   * that are prefixes of the term.
   */
  #matches = new Uint32Array(0)

  constructor(index: { vocabulary: Vocabulary; names: NameWords; labels: Labels }) {
    this.#vocabulary = index.vocabulary
    this.#names = index.names
    this.#labels = index.labels
  }

  /**
   * Calls `use` with a function that computes the score of a document, given its number of downloads. Better matches
   * have higher scores.
   */
  withScores<T>(words: readonly (readonly string[])[], use: (score: Score) => T): T {
    const marked = this.#mark(words)
    const labelled = words.map((alternatives) =>
      this.#labels.toSet(
        ...alternatives.map((value) => ({ kind: 'tag' as const, value })),
        ...alternatives.map((value) => ({ kind: 'architecture' as const, value })),
      ),
    )
    const matches = this.#matches
    const { terms, starts } = this.#names.all
    try {
      return use((document, downloads) => {
        const start = starts[document] ?? 0
        const end = starts[document + 1] ?? 0
        let found = 0
        let covered = 0
        let adjacent = 0
        let expected = 0
        for (let at = start; at < end; at += 1) {
          const match = matches[terms[at] ?? 0] ?? 0
          found |= match
          if (match & expected) adjacent += 1
          expected = (match & 0xffff) << 1
          if (match & 0xffff) covered += 1
          else if (match !== 0) covered += 0.5
        }
        const length = end - start
        let score = points.coverage * (covered / Math.max(1, length)) + points.adjacent * adjacent
        if (covered === length) score += points.wholeName
        if ((matches[terms[start] ?? 0] ?? 0) & 1) score += points.start
        for (let word = 0; word < labelled.length; word += 1) {
          if (found & (0x10001 << word)) score += points.inName
          if (labelled[word]?.has(document)) score += points.label
        }
        return score + points.downloads * Math.log10(1 + downloads)
      })
    } finally {
      for (const term of marked) matches[term] = 0
    }
  }

  /** Marks the terms that match the words of the query in `#matches`, and returns these terms. */
  #mark(words: readonly (readonly string[])[]): number[] {
    if (this.#matches.length < this.#vocabulary.size) {
      this.#matches = new Uint32Array(Math.ceil(1.2 * this.#vocabulary.size))
    }
    const marked: number[] = []
    words.forEach((alternatives, word) => {
      for (const alternative of alternatives) {
        // As a prefix, the number 3 must match the version `3.1`, but not the size `30b`.
        const isNumber = /^\d+$/.test(alternative)
        const { beginning } = this.#vocabulary.find(isNumber ? `${alternative}.` : alternative)
        for (const term of beginning) {
          this.#matches[term] = (this.#matches[term] ?? 0) | (0x10000 << word)
          marked.push(term)
        }
        const { equal } = this.#vocabulary.find(alternative)
        if (equal === undefined) continue
        this.#matches[equal] = (this.#matches[equal] ?? 0) | (1 << word)
        marked.push(equal)
      }
    })
    return marked
  }
}
