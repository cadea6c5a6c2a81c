import { give, type Input, type Parsing, type Pass } from './input.ts'
import { jsonValue } from './json-value.ts'

/**
 * Passes on a JSON value unchanged, as it arrives. Only strings and brackets are recognized; the JSON is not validated.
 * Returns false if the answer ends before the value does.
 */
export function* readJson(input: Input, pass: Pass): Parsing<boolean> {
  let depth = 0
  let isInString = false
  let isEscaped = false
  let isScalar = false
  while (yield* input.more()) {
    const { rest } = input
    let end = 0
    let isOver = false
    for (; end < rest.length && !isOver; end += 1) {
      const char = rest.charAt(end)
      if (isInString) {
        isInString = isEscaped || char !== '"'
        isEscaped = !isEscaped && char === '\\'
        isOver = !isInString && depth === 0
      } else if (char === '"') isInString = true
      else if (char === '{' || char === '[') depth += 1
      else if (char === '}' || char === ']') {
        if (depth === 0) break // the end of the object or list that contains this value
        depth -= 1
        isOver = depth === 0
      } else if (depth === 0) {
        if (/[\s,<`]/.test(char)) break
        isScalar = true
      }
    }
    if (end > 0) yield* give(pass(input.take(end)))
    if (isOver || end < rest.length) return true
  }
  return isScalar && depth === 0 && !isInString
}

/** Reads a JSON string. Returns undefined if there is none, or if the answer ends within it. */
export function* readString(input: Input): Parsing<string | undefined> {
  if (!(yield* input.more()) || !input.rest.startsWith('"')) return undefined
  const value = yield* readValue(input)
  return typeof value === 'string' ? value : undefined
}

/** Reads a JSON value. Returns undefined if it is invalid or incomplete. */
export function* readValue(input: Input): Parsing<unknown> {
  let json = ''
  const isWhole = yield* readJson(input, (text) => {
    json += text
    return undefined
  })
  return isWhole ? jsonValue(json) : undefined
}
