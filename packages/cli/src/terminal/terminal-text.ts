import { controlCharacters } from '@shoal/core/text'

/**
 * Puts untrusted text on one line, without control characters, so that it can be aligned, or become part of a sentence
 * or of a hint, which may have several lines. The printer removes control characters from everything else.
 */
export function toTerminalLine(text: string): string {
  return text.replace(/\s+/g, ' ').replace(controlCharacters, '').trim()
}

/** A word of lowercase letters only. A word with other characters may be a path, a filename or a model name. */
const ordinaryWord = /^[a-z]+(?=[\s,:;.?]*(\s|$))/

/**
 * Turns a lowercase phrase into a sentence with a capital letter and a period. A path or a name at the beginning is
 * not changed.
 */
export function toSentence(phrase: string): string {
  const text = phrase.replace(ordinaryWord, (word) => word.charAt(0).toUpperCase() + word.slice(1))
  return /[.?:]$/.test(text) ? text : `${text}.`
}

/** Shortens a hash for display, as in `9f3c…b1e0`. */
export const shortHash = (hash: string) =>
  hash.length > 8 ? `${hash.slice(0, 4)}…${hash.slice(-4)}` : hash
