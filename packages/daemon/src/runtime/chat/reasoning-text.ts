import type { Piece } from '../runtime.ts'

/**
 * Processes the text of the model's reasoning. By default, the text becomes reasoning pieces, without the whitespace
 * at both ends. If `isKept` is set, it remains text, with its markers and whitespace. Empty reasoning is dropped.
 */
export function reasoningText(open: string, isKept: boolean) {
  /** Whitespace and a marker that are output only if text follows. */
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
