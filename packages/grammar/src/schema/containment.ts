/** Finds the schemas that apply to the same value as the schema that contains them. */
import { has, isSchema, requireText, resolve, type Schema } from './schema.ts'

const lists = ['allOf', 'anyOf', 'oneOf']
const schemas = ['if', 'then', 'else']
const members = ['dependentSchemas', 'dependencies']

/** Returns a function that reports whether `outer` contains `part`, directly or indirectly. */
export function containment(root: unknown): (part: Schema, outer: Schema) => boolean {
  const known = new Map<Schema, Set<unknown>>()

  function contents(outer: Schema): Set<unknown> {
    const done = known.get(outer)
    if (done) return done
    const found = new Set<unknown>([outer])
    for (const schema of found) {
      if (isSchema(schema)) for (const part of partsOf(root, schema)) found.add(part)
    }
    known.set(outer, found)
    return found
  }

  return (part, outer) => contents(outer).has(part)
}

/**
 * Returns the schemas directly within a schema, and the schema that its `$ref` refers to. Does not check whether the
 * schema's keywords are valid.
 */
function partsOf(root: unknown, schema: Schema): unknown[] {
  const valuesOf = (keywords: readonly string[]) =>
    keywords.filter((keyword) => has(schema, keyword)).map((keyword) => schema[keyword])
  const target = has(schema, '$ref') ? [resolve(root, requireText(schema, '$ref', ''), '')] : []
  return [
    ...target,
    ...valuesOf(lists).flat(),
    ...valuesOf(schemas),
    ...valuesOf(members).flatMap((value) => (isSchema(value) ? Object.values(value) : [])),
  ]
}
