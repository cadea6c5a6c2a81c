// biome-ignore lint/suspicious/noControlCharactersInRegex: it searches for control characters
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g

/** Removes control characters, including those that change the text direction, from untrusted text. */
export function toTerminalText(text: string): string {
  return text.replace(controls, '')
}

/** Like `toTerminalText`, but puts the text on one line. */
export function toTerminalLine(text: string): string {
  return toTerminalText(text.replace(/\s+/g, ' ')).trim()
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
