// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g

/** Text of somebody else, without what could drive the reader's terminal or turn its reading direction. */
export function plainText(text: string): string {
  return text.replace(controls, '')
}

/** The same on one line. */
export function plainLine(text: string): string {
  return plainText(text.replace(/\s+/g, ' ')).trim()
}

/** Messages are lower-case phrases; what people read begins with a capital and ends with a stop. */
export function sentence(phrase: string): string {
  const text = phrase.charAt(0).toUpperCase() + phrase.slice(1)
  return /[.?:]$/.test(text) ? text : `${text}.`
}
