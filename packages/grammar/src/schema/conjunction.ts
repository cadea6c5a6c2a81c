/**
 * Simplifies schemas. Resolves `allOf`, `$ref`, `not`, `if` and similar keywords to a list of parts and a list of
 * choices. A value must match the other keywords of every part, and an option of every choice.
 */
import { negate } from './negation.ts'
import {
  has,
  keywordsOfType,
  negatedKeywords,
  refuseKeywords,
  requireList,
  requireMembers,
  requireSchema,
  requireText,
  resolve,
  type Schema,
} from './schema.ts'
import { at, SchemaError } from './schema-error.ts'

export type Conjunction = { parts: readonly Schema[]; choices: readonly Choice[] }
/** A value must match one of the options. If the choice is exclusive, the value must match exactly one. */
export type Choice = {
  options: readonly unknown[]
  /** The path of each option within the schema, for error messages. */
  places: readonly string[]
  isExclusive: boolean
}

/** A schema that no value matches. */
const never: Schema = { type: [] }

const ownKeywords: readonly (string | symbol)[] = [
  ...Object.values(keywordsOfType).flat(),
  ...['type', 'enum', 'const', ...negatedKeywords],
]

/** The maximum depth of references and `allOf` within one schema. */
const maxDepth = 100

export function simplify(root: unknown, given: unknown, path: string): Conjunction {
  const parts = new Set<Schema>()
  const choices = new Set<Choice>()
  collect(given, [])
  return { parts: [...parts], choices: [...choices] }

  function collect(value: unknown, outer: readonly unknown[]) {
    const schema = requireSchema(value, path)
    if (schema === true) return
    if (schema === false) {
      parts.add(never)
      return
    }
    if (outer.includes(schema)) {
      throw new SchemaError(`${at(path)} refers to itself endlessly`)
    }
    if (outer.length > maxDepth) {
      throw new SchemaError(`${at(path)} has references or parts that are nested too deeply`)
    }
    refuseKeywords(schema, path)
    const inner = [...outer, schema]
    if (ownKeywords.some((keyword) => has(schema, keyword))) parts.add(schema)
    if (has(schema, '$ref')) collect(resolve(root, requireText(schema, '$ref', path), path), inner)
    if (has(schema, 'allOf')) {
      for (const part of requireList(schema, 'allOf', path)) collect(part, inner)
    }
    if (has(schema, 'not')) collect(negate(root, schema.not, path), inner)
    for (const choice of choicesOf(schema, path)) {
      if (choice.options.length === 1) collect(choice.options[0], inner)
      else choices.add(choice)
    }
  }
}

export const isNever = (part: Schema): boolean => part === never

/** Returns the conjunction that requires everything in `a` and everything in `b`. */
export const both = (a: Conjunction, b: Conjunction): Conjunction => allOf([a, b])

/** Returns the conjunction that requires everything that the given conjunctions require. */
export function allOf(all: readonly Conjunction[]): Conjunction {
  if (all.length === 1) return all[0] as Conjunction
  return {
    parts: [...new Set(all.flatMap(({ parts }) => parts))],
    choices: [...new Set(all.flatMap(({ choices }) => choices))],
  }
}

const known = new WeakMap<Schema, Choice[]>()

/**
 * Returns a schema's choices. Repeated calls return the same objects, so that schemas which contain themselves are
 * recognized.
 */
function choicesOf(schema: Schema, path: string): Choice[] {
  const choices = known.get(schema) ?? [
    ...['anyOf', 'oneOf']
      .filter((keyword) => has(schema, keyword))
      .map((keyword) => {
        const options = requireList(schema, keyword, path)
        const places = options.map((_, index) => `${keyword}/${index}`)
        return { options, places, isExclusive: keyword === 'oneOf' }
      }),
    ...conditions(schema),
    ...dependencies(schema, path),
  ]
  known.set(schema, choices)
  return choices
}

function conditions(schema: Schema): Choice[] {
  if (!has(schema, 'if') || (!has(schema, 'then') && !has(schema, 'else'))) return []
  const { if: condition, then: yes = true, else: no = true } = schema
  const options = [{ allOf: [condition, yes] }, { allOf: [{ not: condition }, no] }]
  return [{ options, places: ['then', 'else'], isExclusive: false }]
}

/**
 * Each dependency is a choice: the property is missing, or it is present and the object also matches the dependent
 * schema.
 */
function dependencies(schema: Schema, path: string): Choice[] {
  return ['dependentRequired', 'dependentSchemas', 'dependencies'].flatMap((keyword) =>
    Object.entries(requireMembers(schema, keyword, path)).map(([name, needed]) => {
      const own = { type: 'object', required: [name] }
      const more = Array.isArray(needed) ? { required: needed } : needed
      const options = [{ properties: { [name]: false } }, { allOf: [own, more] }]
      const place = `${keyword}/${name}`
      return { options, places: [place, place], isExclusive: false }
    }),
  )
}
