import type { Phrase } from './phrases.ts'
import type { Passage } from './read-passages.ts'

/** Returns a message for each unwanted phrase, with its file and line, its words, and a replacement. */
export function checkWords(passages: readonly Passage[], phrases: readonly Phrase[]): string[] {
  return passages.flatMap(({ path, line, text }) =>
    phrases.flatMap(({ pattern, better }) => {
      const found = pattern.exec(text)?.[0].trim()
      return found ? `${path}:${line}: “${found}”: write ${better}` : []
    }),
  )
}
