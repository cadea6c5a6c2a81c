import type { GgufScalar, GgufValue } from './gguf-values.ts'

type JsonScalar = string | number | boolean | null
/**
 * A JSON value from the header. An array or string that was not kept in full is represented by its type, length and
 * beginning.
 */
export type JsonValue =
  | JsonScalar
  | JsonScalar[]
  | { type: string; length: number; items: JsonScalar[] }
  | { type: 'string'; length: number; start: string }

/**
 * Converts a header value into JSON that PostgreSQL's `jsonb` accepts: without NUL characters, unpaired surrogates, NaN
 * or big integers.
 */
export function jsonSafe(value: GgufValue): JsonValue {
  if (typeof value !== 'object') return jsonSafeScalar(value)
  if ('start' in value) return { ...value, start: cleanText(value.start) }
  const items = value.items.map(jsonSafeScalar)
  return items.length === value.length && value.type !== 'array' ? items : { ...value, items }
}

function jsonSafeScalar(value: GgufScalar): JsonScalar {
  if (typeof value === 'string') return cleanText(value)
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'number' && !Number.isFinite(value)) return null
  return value
}

export function cleanText(text: string): string {
  return text.replaceAll('\0', '').toWellFormed()
}
