// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g

/** Text of somebody else, without what could drive the reader's terminal or turn its reading direction. */
export function toTerminalText(text: string): string {
  return text.replace(controls, '')
}

/** The same on one line. */
export function toTerminalLine(text: string): string {
  return toTerminalText(text.replace(/\s+/g, ' ')).trim()
}

/** A word of the language: anything with other characters in it may be a path, a filename or a model's name. */
const ordinaryWord = /^[a-z]+(?=[\s,:;.?]*(\s|$))/

/**
 * Messages are lower-case phrases; what people read begins with a capital and ends with a stop. A path or a name at the
 * beginning stays as it is.
 */
export function toSentence(phrase: string): string {
  const text = phrase.replace(ordinaryWord, (word) => word.charAt(0).toUpperCase() + word.slice(1))
  return /[.?:]$/.test(text) ? text : `${text}.`
}

/** `9f3c…b1e0`. */
export const shortHash = (hash: string) =>
  hash.length > 8 ? `${hash.slice(0, 4)}…${hash.slice(-4)}` : hash
