import { typeOf } from '@shoal/grammar'
import { jsonValue } from './json-value.ts'

const words: Record<string, string> = { True: 'true', False: 'false', None: 'null' }

/** Converts a value's text to JSON, with one of the allowed types if possible. */
export function toJson(text: string, types: ReadonlySet<string>): string {
  const trimmed = text.trim()
  const json = words[trimmed] ?? trimmed
  const value = jsonValue(json)
  if (value !== undefined) {
    const type = typeOf(value)
    const isAllowed =
      types.size === 0 || types.has(type) || (type === 'number' && types.has('integer'))
    if (isAllowed || !types.has('string')) return json
  }
  return JSON.stringify(text)
}
