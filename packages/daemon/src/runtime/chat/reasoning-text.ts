import type { Piece } from '../runtime.ts'

/**
 * Converts text to reasoning, without the white space at both ends. If reasoning is kept in the text, its markers and
 * white space are kept too, unless the reasoning is empty.
 */
export function reasoningText(open: string, isKept: boolean) {
  /** White space and a marker that are output only if text follows. */
  let held = open
  let hasText = false
  if (!isKept) held = ''

  return {
    take(text: string): Piece | undefined {
      const whole = held + text
      if (text.trim() === '') {
        held = hasText || isKept ? whole : ''
        return undefined
      }
      const given = hasText || isKept ? whole : whole.trimStart()
      hasText = true
      if (isKept) {
        held = ''
        return { text: given }
      }
      const trimmed = given.trimEnd()
      held = given.slice(trimmed.length)
      return { reasoning: trimmed }
    },

    /** Ends the reasoning. */
    close(marker: string): Piece | undefined {
      return isKept && hasText ? { text: held + marker } : undefined
    },
  }
}
