import { markers } from './formats/markers.ts'
import { findShield, hasFrames, unshield } from './jinja/shield.ts'

/**
 * Returns a function that cuts a rendered prompt wherever a value contains the text of one of the tokens, or completes
 * such a text together with the template's own text. A cut is within that text, so that it is not that token. Joined in
 * order, the parts are the prompt without shields. A prompt without such texts is not cut. Tokens that consist only of
 * characters that are not shielded are not recognized.
 */
export function forgedTokens(tokens: readonly string[]) {
  const { pattern } = markers(...tokens.filter((token) => token.length > 1 && hasFrames(token)))
  const everywhere = new RegExp(pattern, 'g')

  return (shielded: string): string[] => {
    const text = unshield(shielded)
    if (text === shielded) return [text]
    const cuts = new Set([0])
    everywhere.lastIndex = 0
    for (let found = everywhere.exec(text); found; found = everywhere.exec(text)) {
      const { 0: token, index } = found
      // No token of the template contains the shielded character, so no such token is cut.
      const place = findShield(shielded.slice(index, index + token.length))
      if (place !== -1) cuts.add(index + Math.max(1, place))
      everywhere.lastIndex = index + 1 // tokens may overlap
    }
    const starts = [...cuts].sort((a, b) => a - b)
    return starts.map((start, index) => text.slice(start, starts[index + 1]))
  }
}
