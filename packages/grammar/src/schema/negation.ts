/** Converts `not` to other keywords. */
import { patternOfFormat } from './formats.ts'
import {
  has,
  isSchema,
  notEnum,
  notMultipleOf,
  notPattern,
  numbersOf,
  requireList,
  requireMembers,
  requireSchema,
  requireText,
  resolve,
  type Schema,
} from './schema.ts'
import { cannot } from './schema-error.ts'

const known = new WeakMap<Schema, Schema | boolean>()
const maxDepth = 50

/**
 * Returns a schema that matches exactly the values that the given schema does not match. Throws a `SchemaError` if this
 * cannot be expressed.
 */
export function negate(root: unknown, given: unknown, path: string, depth = 0): Schema | boolean {
  const schema = requireSchema(given, path)
  if (typeof schema === 'boolean') return !schema
  if (depth > maxDepth) throw cannot(path, 'not', 'it refers to itself')
  const done = known.get(schema)
  if (done !== undefined) return done
  const ways = listWays(root, schema, path, depth)
  const result = ways.length === 0 ? false : { anyOf: ways }
  known.set(schema, result)
  return result
}

/**
 * Returns one alternative for each requirement of the schema. Each alternative matches the values that do not meet that
 * requirement.
 */
function listWays(root: unknown, schema: Schema, path: string, depth: number): unknown[] {
  const refused = impossible.find((keyword) => hasEffect(schema, keyword))
  if (refused !== undefined) throw cannot(path, 'not', `it contains ${refused}`)
  const not = (part: unknown) => negate(root, part, path, depth + 1)
  const ways: Record<string, () => readonly unknown[]> = {
    $ref: () => [not(resolve(root, requireText(schema, '$ref', path), path))],
    allOf: () => requireList(schema, 'allOf', path).map(not),
    anyOf: () => [{ allOf: requireList(schema, 'anyOf', path).map(not) }],
    not: () => [schema.not],
    type: () => otherTypes(schema, path),
    const: () => [{ [notEnum]: [schema.const] }],
    enum: () => [{ [notEnum]: requireList(schema, 'enum', path) }],
    pattern: () => [{ type: 'string', [notPattern]: requireText(schema, 'pattern', path) }],
    multipleOf: () => [{ type: 'number', [notMultipleOf]: schema.multipleOf }],
    minimum: () => [{ type: 'number', exclusiveMaximum: schema.minimum }],
    maximum: () => [{ type: 'number', exclusiveMinimum: schema.maximum }],
    exclusiveMinimum: () => [{ type: 'number', maximum: schema.exclusiveMinimum }],
    exclusiveMaximum: () => [{ type: 'number', minimum: schema.exclusiveMaximum }],
    required: () => requireList(schema, 'required', path, true).map(without),
    properties: () =>
      Object.entries(requireMembers(schema, 'properties', path)).map(([name, value]) => ({
        type: 'object',
        required: [name],
        properties: { [name]: not(value) },
      })),
    items: () => [{ type: 'array', contains: not(schema.items) }],
    contains: () => [{ type: 'array', items: not(schema.contains) }],
  }
  const own = Object.entries(ways).flatMap(([keyword, list]) =>
    has(schema, keyword) ? list() : [],
  )
  return [...own, ...otherLengths(schema, path)].filter((way) => way !== false)
}

const without = (name: unknown) => ({ type: 'object', properties: { [String(name)]: false } })

function otherLengths(schema: Schema, path: string): Schema[] {
  const keywords = [
    ['string', 'minLength', 'maxLength'],
    ['array', 'minItems', 'maxItems'],
    ['object', 'minProperties', 'maxProperties'],
  ] as const
  return keywords.flatMap(([type, minKeyword, maxKeyword]) => [
    ...numbersOf([schema], minKeyword, path)
      .filter((min) => min > 0)
      .map((min) => ({ type, [maxKeyword]: min - 1 })),
    ...numbersOf([schema], maxKeyword, path).map((max) => ({ type, [minKeyword]: max + 1 })),
  ])
}

function otherTypes(schema: Schema, path: string): Schema[] {
  const own = Array.isArray(schema.type) ? requireList(schema, 'type', path) : [schema.type]
  const hasNumbers = own.includes('number') || own.includes('integer')
  const others = ['null', 'boolean', 'object', 'array', 'string', 'number'].filter(
    (type) => !own.includes(type) && !(type === 'number' && hasNumbers),
  )
  const hasFractions = own.includes('integer') && !own.includes('number')
  return [
    ...(others.length > 0 ? [{ type: others }] : []),
    ...(hasFractions ? [{ type: 'number', [notMultipleOf]: 1 }] : []),
  ]
}

/** Keywords whose negation cannot be expressed with other keywords. */
const impossible = [
  ...['oneOf', 'if', 'format', 'minContains', 'maxContains', 'uniqueItems', 'prefixItems'],
  ...['additionalItems', 'unevaluatedItems', 'propertyNames', 'patternProperties'],
  ...['additionalProperties', 'unevaluatedProperties', 'dependentRequired', 'dependentSchemas'],
  ...['dependencies', '$dynamicRef', '$recursiveRef'],
]

function hasEffect(schema: Schema, keyword: string): boolean {
  if (!has(schema, keyword)) return false
  const value = schema[keyword]
  if (keyword === 'format') return patternOfFormat(value) !== undefined
  if (keyword === 'if') return has(schema, 'then') || has(schema, 'else')
  if (keyword === 'uniqueItems') return value !== false
  const allowsAll = value === true || (isSchema(value) && Object.keys(value).length === 0)
  return !allowsAll
}
