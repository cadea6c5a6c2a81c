import type { DocumentSet } from './document-set.ts'
import type { Vocabulary } from './vocabulary.ts'

const maxWordLength = 64

/**
 * Splits a text into words for indexing and searching. The words are lowercase, without accents or punctuation. Two or
 * more letters are separated from a number that follows them, and the numbers of a version form one word: `Qwen2.5-7B`,
 * `qwen-2.5-7b` and `qwen-2-5-7b` all yield the words `qwen`, `2.5` and `7b`.
 */
export function splitWords(text: string): string[] {
  const folded = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  return Array.from(folded.matchAll(word), ([word]) => {
    const isVersion = version.test(word)
    return (isVersion ? word.replace(/^v/, '').replace(/[-_]/, '.') : word).slice(0, maxWordLength)
  })
}

/** Stop words, which are ignored if a query also contains other words. */
const fillers = new Set('a an and for in model models of on or the to with'.split(' '))

/** Returns the words to search for, without duplicates. */
export function splitQuery(text: string): string[] {
  const words = [...new Set(splitWords(text))]
  const telling = words.filter((word) => !fillers.has(word))
  return (telling.length > 0 ? telling : words).slice(0, maxQueryWords)
}

/** Maximum number of words in a query; further words are ignored. */
const maxQueryWords = 12

const version = /^v?\d{1,2}(\.\d{1,2}[a-z]{0,2}|[-_]\d{1,2})?$/
/**
 * A version or a size (`3.1`, `3-1`, `v2`, `1.5b`), the letters directly before a digit, or any other run of letters
 * and digits.
 */
const word =
  /v?(?<!\p{N})\d{1,2}(\.\d{1,2}\p{L}{0,2}|[-_]\d{1,2})(?![\p{L}\p{N}])|(?<![\p{L}\p{N}])v\d{1,2}(?![\p{L}\p{N}])|(?<![\p{L}\p{N}])\p{L}{2,}(?=\d)|[\p{L}\p{N}]+/gu

const maxCorrections = 8
const minCorrectedLength = 4

/**
 * Returns strings that differ from `word` by one typo (a letter added, removed or changed, or two adjacent letters
 * swapped) and with which terms in these documents begin. If any of these strings are complete terms, only those are
 * returned.
 */
export function findCorrections(
  word: string,
  vocabulary: Vocabulary,
  documents: DocumentSet,
): string[] {
  if (word.length < minCorrectedLength) return []
  const near = new Set<string>()
  for (let at = 0; at < word.length; at += 1) {
    const before = word.slice(0, at)
    const rest = word.slice(at)
    near.add(before + rest.slice(1))
    near.add(before + rest.charAt(1) + rest.charAt(0) + rest.slice(2))
    for (const next of vocabulary.nextCharacters(before)) {
      near.add(before + next + rest)
      near.add(before + next + rest.slice(1))
    }
  }
  near.delete(word)
  const beginnings = [...near].filter((text) => vocabulary.has(text, documents))
  const terms = beginnings.filter((text) => vocabulary.has(text, documents, 'equal'))
  return (terms.length > 0 ? terms : beginnings)
    .toSorted((a, b) => a.length - b.length || (a < b ? -1 : 1))
    .slice(0, maxCorrections)
}
