/** The types that a schema allows, and the values that it lists. */
import { spend } from '../automata/automaton.ts'
import { choice, type Node, rule } from '../gbnf/node.ts'
import { type Conjunction, isNever } from '../schema/conjunction.ts'
import {
  has,
  keywordsOfType,
  notEnum,
  requireList,
  type Schema,
  valuesOf,
} from '../schema/schema.ts'
import { at, cannot, SchemaError } from '../schema/schema-error.ts'
import type { Conversion } from './conversion.ts'
import { literal } from './json-text.ts'
import { isNumberAllowed, listIntegers } from './numbers.ts'
import { isStringAllowed } from './strings.ts'

const types = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'] as const
export type Type = (typeof types)[number]

/** The types that all `type` keywords allow. Every integer is also a number. */
export const allowedTypes = (parts: readonly Schema[], path: string): Type[] =>
  parts.reduce<Type[]>(
    (all, part) => {
      const own = namedTypes(part, path)
      return all.filter(
        (type) => own.includes(type) || (type === 'integer' && own.includes('number')),
      )
    },
    [...types],
  )

function namedTypes(part: Schema, path: string): readonly unknown[] {
  if (isNever(part)) return []
  if (!has(part, 'type')) return types
  const own = Array.isArray(part.type) ? requireList(part, 'type', path) : [part.type]
  const unknown = own.find((type) => !types.includes(type as Type))
  if (unknown === undefined) return own
  const shown = String(unknown).slice(0, 50)
  throw new SchemaError(`${at(`${path}/type`)} is ${shown}, which is not a JSON type`)
}

/**
 * The types of the values that a grammar allows. Without `type`, `enum` and `const`, these are only the types to which
 * the other keywords apply, although JSON Schema would also allow all values of other types.
 */
export function writtenTypes(parts: readonly Schema[], path: string): Type[] {
  const allowed = allowedTypes(parts, path).filter(
    (type, _, all) => type !== 'integer' || !all.includes('number'),
  )
  if (parts.some((part) => ['type', 'enum', 'const'].some((one) => has(part, one)))) return allowed
  const applicable = Object.entries(keywordsOfType)
    .filter(([, keywords]) => keywords.some((one) => parts.some((part) => has(part, one))))
    .map(([type]) => type)
  return applicable.length === 0 ? allowed : allowed.filter((type) => applicable.includes(type))
}

/** The values in `enum` and `const` that match all keywords; undefined if the schemas have neither keyword. */
export function listedValues(
  conversion: Conversion,
  parts: readonly Schema[],
  path: string,
): unknown[] | undefined {
  const lists = parts.flatMap((part) => [
    ...(has(part, 'enum') ? [requireList(part, 'enum', path)] : []),
    ...(has(part, 'const') ? [[part.const]] : []),
  ])
  const [first, ...others] = lists
  spend(conversion.budget, lists.flat().length >> 5)
  const sets = others.map((list) => new Set(list.map(canonical)))
  return first?.filter(
    (value) =>
      sets.every((set) => set.has(canonical(value))) && isAllowed(conversion, value, parts, path),
  )
}

/** Whether a value matches the keywords other than `enum` and `const`. */
export function isAllowed(
  conversion: Conversion,
  value: unknown,
  parts: readonly Schema[],
  path: string,
): boolean {
  const type = typeOf(value)
  if (!allowedTypes(parts, path).includes(type)) return false
  if (isExcluded(value, parts)) return false
  if (typeof value === 'string') return isStringAllowed(conversion, value, parts, path)
  if (typeof value === 'number') return isNumberAllowed(value, parts, path)
  if (type !== 'object' && type !== 'array') return true
  const keyword = keywordsOfType[type].find((one) => parts.some((part) => has(part, one)))
  if (keyword === undefined) return true
  throw cannot(path, keyword, `enum or const lists an ${type}`)
}

/**
 * Caches the values that `not` excludes, in the form in which they are compared. Many values may be compared with the
 * same list.
 */
const excludedTexts = new WeakMap<object, Set<string>>()

function isExcluded(value: unknown, parts: readonly Schema[]): boolean {
  return (valuesOf(parts, notEnum) as (readonly unknown[])[]).some((list) => {
    const texts = excludedTexts.get(list) ?? new Set(list.map(canonical))
    excludedTexts.set(list, texts)
    return texts.has(canonical(value))
  })
}

function typeOf(value: unknown): Type {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value as Type
}

/** `true`, `false` or `null`, except for those that `not` lists. */
export function constants(type: 'boolean' | 'null', parts: readonly Schema[]): Node {
  const excluded = valuesOf(parts, notEnum).flat()
  const values = type === 'null' ? [null] : [true, false]
  const allowed = values.filter((value) => !excluded.includes(value))
  return allowed.length === values.length ? rule(type) : choice(...allowed.map(literal))
}

/** Rejects a schema whose `not` excludes a particular array or object, because the grammar cannot exclude it. */
export function refuseExcluded(type: 'array' | 'object', parts: readonly Schema[], path: string) {
  const excluded = valuesOf(parts, notEnum).flat()
  if (!excluded.some((value) => typeOf(value) === type)) return
  throw cannot(path, 'not', `enum or const lists an ${type}`)
}

/** Returns the same text for equal values. */
export function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`,
  )
  return `{${members.sort().join()}}`
}

/** All values that match the schemas; undefined if they cannot be listed, or if there are too many. */
export function finiteValues(
  conversion: Conversion,
  { parts, choices }: Conjunction,
  max: number,
  path: string,
): unknown[] | undefined {
  const [choice, ...others] = choices
  if (choice) {
    const lists = choice.options.map((option) => {
      const own = conversion.simplify([option], path)
      const all = { parts: [...parts, ...own.parts], choices: [...others, ...own.choices] }
      return choice.isExclusive ? undefined : finiteValues(conversion, all, max, path)
    })
    return joinLists(lists)
  }
  const listed = listedValues(conversion, parts, path)
  if (listed !== undefined) return listed.length > max ? undefined : listed
  const lists = writtenTypes(parts, path).map((type) => {
    if (type === 'null') return [null]
    if (type === 'boolean') return [true, false]
    return type === 'integer' ? listIntegers(parts, max, path) : undefined
  })
  return joinLists(lists)?.filter((value) => isAllowed(conversion, value, parts, path))
}

const joinLists = (lists: readonly (unknown[] | undefined)[]): unknown[] | undefined =>
  lists.every((list) => list !== undefined) ? lists.flat() : undefined
