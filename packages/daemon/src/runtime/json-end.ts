/**
 * Watches generated JSON and tells when its value is complete: a grammar allows white space after it without end. The value
 * is an object or an array, as the grammars that are used have it; a bare word or number is over when the model says so.
 */
export function jsonEnd() {
  let depth = 0
  let isInString = false
  let isEscaped = false
  let hasBegun = false

  return {
    isOver(text: string): boolean {
      for (const character of text) {
        if (isInString) {
          if (isEscaped) isEscaped = false
          else if (character === '\\') isEscaped = true
          else if (character === '"') isInString = false
        } else if (character === '"') isInString = true
        else if (character === '{' || character === '[') {
          depth += 1
          hasBegun = true
        } else if (character === '}' || character === ']') depth -= 1
        if (hasBegun && depth === 0) return true
      }
      return false
    },
  }
}
