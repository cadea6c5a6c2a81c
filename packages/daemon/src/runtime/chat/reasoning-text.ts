import type { Piece } from '../runtime.ts'

/**
 * Processes the text of the model's reasoning. By default, it becomes a reasoning piece, without the white space at
 * both ends. If `isKept`, it remains text, with its markers and white space. Empty reasoning is dropped.
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
