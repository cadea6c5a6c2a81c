import { resolve } from './schema.ts'
import { SchemaError } from './schema-error.ts'

type Schema = Record<string, unknown>

const typeNames = ['string', 'number', 'integer', 'boolean', 'null', 'object', 'array']
const maxReferences = 10

const isSchema = (value: unknown): value is Schema => typeof value === 'object' && value !== null

/** The schema of an object's property. `root` is the schema in which references are looked up. */
export function propertySchema(schema: unknown, name: string, root: unknown): unknown {
  const found = branches(schema, root).map(
    ({ properties }) => isSchema(properties) && properties[name],
  )
  return found.find((one) => one) || undefined
}

export const itemSchema = (schema: unknown, root: unknown): unknown =>
  branches(schema, root).find(({ items }) => items)?.items

/** The JSON types that a schema allows. Empty if the schema does not specify types. */
export function typesOf(schema: unknown, root: unknown, depth = 0): Set<string> {
  const { type, enum: values, const: value } = parts(schema, root)
  const named = [type].flat().filter((name) => typeNames.includes(String(name)))
  if (named.length > 0) return new Set(named.map(String))
  if (value !== undefined) return new Set([typeOf(value)])
  if (Array.isArray(values)) return new Set(values.map(typeOf))
  if (depth > maxReferences) return new Set()
  const [, ...options] = branches(schema, root)
  return new Set(options.flatMap((option) => [...typesOf(option, root, depth + 1)]))
}

/** A schema, and the schemas that it combines with `anyOf`, `oneOf` or `allOf`. */
function branches(schema: unknown, root: unknown): Schema[] {
  const own = parts(schema, root)
  const options = [own.anyOf, own.oneOf, own.allOf].flatMap((some) =>
    Array.isArray(some) ? some : [],
  )
  return [own, ...options.map((option) => parts(option, root))]
}

/** The JSON type of a value. For integers, this is `number`. */
export function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

/** The members of a schema, after its references have been resolved. */
function parts(schema: unknown, root: unknown): Schema {
  let found = schema
  for (let count = 0; count < maxReferences; count += 1) {
    if (!isSchema(found)) return {}
    const { $ref } = found
    if (typeof $ref !== 'string' || !$ref.startsWith('#')) return found
    found = lookUp($ref, root)
  }
  return {}
}

/** Returns the schema to which a reference refers, or undefined if it does not exist. */
function lookUp(reference: string, root: unknown): unknown {
  try {
    return resolve(root, reference, '')
  } catch (error) {
    if (error instanceof SchemaError) return undefined
    throw error
  }
}
