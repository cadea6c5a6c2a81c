import { isJson } from '../runtime/cut-calls.ts'
import { isEmpty, type Piece } from '../runtime/runtime.ts'

/**
 * Joins the parts of each tool call, because Ollama's API sends only complete calls. A call that was cut off is
 * dropped, because clients would mistake it for a complete call.
 */
export function joinCalls() {
  let begun: Piece['toolCall']

  function end(): Piece[] {
    const pieces = begun && isJson(begun.arguments) ? [{ toolCall: begun }] : []
    begun = undefined
    return pieces
  }

  return {
    /** Adds a part of an answer. Returns the parts that are now complete. */
    take({ toolCall, argumentsDelta, ...piece }: Piece): Piece[] {
      if (begun && argumentsDelta !== undefined) begun.arguments += argumentsDelta
      const ended = argumentsDelta === undefined ? end() : []
      if (toolCall) begun = { ...toolCall }
      return isEmpty(piece) ? ended : [...ended, piece]
    },
    /** Called at the end of the answer. Returns the last tool call, if it is complete. */
    finish: end,
  }
}
