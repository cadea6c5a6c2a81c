/**
 * Matches characters that a terminal interprets, that separate lines, or that change the direction of text; but not
 * tab and line feed.
 */
export const controlCharacters = /(?![\t\n])[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu

/** Escapes the control characters in JSON. `JSON.stringify` escapes only those below U+0020. */
export const escapeControls = (json: string): string =>
  json.replace(
    controlCharacters,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
