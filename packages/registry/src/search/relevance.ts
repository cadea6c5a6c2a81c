import type { Labels } from './labels.ts'
import type { NameWords } from './name-words.ts'
import type { Vocabulary } from './vocabulary.ts'

/** Points of a document for a query. They were fitted to judged queries: see `models/testing/relevance`. */
const points = {
  /** For each word of the query in the name, or at the beginning of one of its words. */
  inName: 5,
  /** For each word of the query that is a tag or the architecture. */
  label: 5,
  /** For each two words that follow each other in the query and in the name. */
  adjacent: 5,
  /**
   * Multiplied by the share of the name's words that are in the query. A word of the name that only begins with a word
   * of the query counts half.
   */
  coverage: 50,
  /** If the query has all words of the name. */
  wholeName: 100,
  /** If the name begins with the first word of the query. */
  start: 2,
  /** For each power of ten of the downloads. */
  downloads: 16,
}

type Score = (document: number, downloads: number) => number

/**
 * Scores how well documents match a query. Words in descriptions give no points, because descriptions mention other
 * models.
 */
export class Relevance {
  #vocabulary: Vocabulary
  #names: NameWords
  #labels: Labels
  /** By term: which words of the query it is (bits 0 to 15), and which ones begin it (bits 16 to 31). */
  #matches = new Uint32Array(0)

  constructor(index: { vocabulary: Vocabulary; names: NameWords; labels: Labels }) {
    this.#vocabulary = index.vocabulary
    this.#names = index.names
    this.#labels = index.labels
  }

  /** Calls `use` with a function that computes the score of a document from its downloads; the best has the highest. */
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

  /** Marks the terms of the query, and returns them. */
  #mark(words: readonly (readonly string[])[]): number[] {
    if (this.#matches.length < this.#vocabulary.size) {
      this.#matches = new Uint32Array(Math.ceil(1.2 * this.#vocabulary.size))
    }
    const marked: number[] = []
    words.forEach((alternatives, word) => {
      for (const alternative of alternatives) {
        const isNumber = /^\d+$/.test(alternative) // it begins `3.1` in a meaningful way, but not `30b`
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
