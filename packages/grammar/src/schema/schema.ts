/** Reads the keywords of JSON schemas. */
import { at, cannot, SchemaError } from './schema-error.ts'

export type Schema = { [keyword: string | symbol]: unknown }

/** Keywords that only `negation.ts` adds, to represent parts of `not`. */
export const notPattern = Symbol('not pattern')
export const notMultipleOf = Symbol('not multipleOf')
export const notEnum = Symbol('not enum')
export const negatedKeywords = [notPattern, notMultipleOf, notEnum]

/** The keywords that apply to values of only one type. */
export const keywordsOfType = {
  string: ['pattern', 'format', 'minLength', 'maxLength'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  array: [
    ...['prefixItems', 'items', 'additionalItems', 'unevaluatedItems', 'minItems', 'maxItems'],
    ...['uniqueItems', 'contains', 'minContains', 'maxContains'],
  ],
  object: [
    ...['properties', 'patternProperties', 'additionalProperties', 'unevaluatedProperties'],
    ...['propertyNames', 'required', 'minProperties', 'maxProperties'],
  ],
}

/**
 * Keywords that are always refused. All other keywords that no code in this folder reads have no effect, because JSON
 * Schema treats them as annotations. These include `title`, `description`, `default`, `examples`, `deprecated`,
 * `readOnly`, `writeOnly`, `$comment`, `contentEncoding`, `contentMediaType`, `contentSchema`, and all keywords that
 * JSON Schema does not define.
 */
const refused = ['$dynamicRef', '$recursiveRef']

export const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Whether the schema has the keyword as its own property, not inherited from its prototype. */
export const has = (schema: Schema, keyword: string | symbol): boolean =>
  Object.hasOwn(schema, keyword) && schema[keyword] !== undefined

export function refuseKeywords(schema: Schema, path: string) {
  for (const keyword of refused) if (has(schema, keyword)) throw cannot(path, keyword)
}

export function requireSchema(value: unknown, path: string): Schema | boolean {
  if (typeof value === 'boolean' || isSchema(value)) return value
  throw new SchemaError(`${at(path)} is not a schema`)
}

/** Resolves a JSON pointer (RFC 6901) within the schema. */
export function resolve(root: unknown, pointer: string, path: string): unknown {
  const shown = pointer.slice(0, 100)
  if (!/^#(\/|$)/.test(pointer)) throw cannot(path, `a $ref to ${shown}`)
  const steps = pointer.slice(1).split('/').slice(1)
  const missing = new SchemaError(`${at(path)}: the target of $ref ${shown} does not exist`)
  return steps.reduce<unknown>((place, step) => {
    const key = decodeStep(step, missing)
    if (typeof place !== 'object' || place === null || !Object.hasOwn(place, key)) throw missing
    return (place as Schema)[key]
  }, root)
}

/**
 * Adjusts the references in a schema that is moved to `place` in another schema, because references start at the root.
 */
export const movedTo = (place: string, schema: object): object =>
  JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#', `"$ref":"#${place}`))

function decodeStep(step: string, missing: SchemaError): string {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch (cause) {
    missing.cause = cause
    throw missing
  }
}

/**
 * Returns the list that is the value of a keyword. Throws a `SchemaError` if the value is not a list, or if it is empty
 * and `mayBeEmpty` is not set, because nothing can match an empty list of alternatives.
 */
export function requireList(
  schema: Schema,
  keyword: string,
  path: string,
  mayBeEmpty = false,
): readonly unknown[] {
  const value = schema[keyword]
  if (Array.isArray(value) && (mayBeEmpty || value.length > 0)) return value
  throw new SchemaError(`${at(path)} has ${keyword}, which is empty or not a list`)
}

export function requireMembers(schema: Schema, keyword: string, path: string): Schema {
  const value = has(schema, keyword) ? schema[keyword] : {}
  if (isSchema(value)) return value
  throw new SchemaError(`${at(`${path}/${keyword}`)} is not an object`)
}

export function requireText(schema: Schema, keyword: string, path: string): string {
  const value = schema[keyword]
  if (typeof value === 'string') return value
  throw new SchemaError(`${at(`${path}/${keyword}`)} is not a string`)
}

/** The values of a keyword in several schemas. */
export const valuesOf = (parts: readonly Schema[], keyword: string | symbol): unknown[] =>
  parts.flatMap((part) => (has(part, keyword) ? [part[keyword]] : []))

/** The numbers of a keyword in several schemas. */
export function numbersOf(
  parts: readonly Schema[],
  keyword: string | symbol,
  path: string,
): number[] {
  return valuesOf(parts, keyword).map((value) => {
    if (typeof value === 'number' && Number.isFinite(value)) return value
    throw new SchemaError(`${at(`${path}/${String(keyword)}`)} is not a number`)
  })
}

export type Lengths = { min: number; max: number }

/**
 * Longer lengths are not enforced, because llama.cpp expands repetitions. No answer is that long anyway, and schemas
 * often contain a huge maximum that stands for none.
 */
const maxLength = 50_000

/** The lengths that a pair of keywords allows. `max` is infinite if no maximum is enforced. */
export function lengthsOf(
  parts: readonly Schema[],
  [minKeyword, maxKeyword]: readonly [string, string],
  path: string,
): Lengths {
  const lengths = (keyword: string) =>
    numbersOf(parts, keyword, path).flatMap((value) => {
      if (Number.isInteger(value) && value >= 0) return value > maxLength ? [] : value
      throw new SchemaError(`${at(`${path}/${keyword}`)} is an invalid length`)
    })
  return { min: Math.max(0, ...lengths(minKeyword)), max: Math.min(...lengths(maxKeyword)) }
}
