/**
 * Converts JSON schemas to grammars in GBNF, llama.cpp's grammar format, so that a model can generate only valid
 * values. If no grammar can enforce a schema, the schema is rejected with an error that contains the offending keyword.
 * White space is allowed where models usually write it, but its length is limited. White space after the value is not
 * allowed, because a model could generate it forever. Properties are in the order of the schema, with required
 * properties first.
 */
import { both, type Schema } from './conjunction.ts'
import { type Bounds, integerGrammar, numberGrammar } from './number-grammar.ts'
import { SchemaError } from './schema-error.ts'

const basics = {
  space: '| " " | "\\n" [ \\t]{0,20}',
  char: '[^"\\\\\\x00-\\x1F\\x7F] | "\\\\" (["\\\\/bfnrt] | "u" [0-9a-fA-F]{4})',
  string: '"\\"" char* "\\""',
  number: numberGrammar(getBounds({})),
  integer: integerGrammar(getBounds({})),
  boolean: '"true" | "false"',
  null: '"null"',
  pair: 'string space ":" space value',
  object: '"{" space (pair (space "," space pair)*)? space "}"',
  array: '"[" space (value (space "," space value)*)? space "]"',
  value: 'object | array | string | number | boolean | null',
  year: '[0-9]{4}',
  month: '"0" [1-9] | "1" [0-2]',
  day: '"0" [1-9] | [12] [0-9] | "3" [01]',
  date: 'year "-" month "-" day',
  time: '([01] [0-9] | "2" [0-3]) ":" [0-5] [0-9] ":" [0-5] [0-9] ("." [0-9]{3})? ("Z" | [-+] ([01] [0-9] | "2" [0-3]) ":" [0-5] [0-9])',
  uuid: '[0-9a-f]{8} "-" [0-9a-f]{4} "-" [0-9a-f]{4} "-" [0-9a-f]{4} "-" [0-9a-f]{12}',
}

/** Formats that are enforced. Other formats are only annotations, as in JSON Schema. */
const formats: Record<string, string> = {
  date: 'date',
  time: 'time',
  'date-time': 'date "T" time',
  uuid: 'uuid',
}

const impossible = [
  'pattern',
  'multipleOf',
  'not',
  'if',
  'patternProperties',
  'dependentRequired',
  'dependentSchemas',
  'dependencies',
  'contains',
  'uniqueItems',
  'minProperties',
  'maxProperties',
] as const

/** The maximum number of repetitions. llama.cpp expands repetitions, so a higher number would make a grammar slow. */
const maxRepetitions = 1000
const maxRules = 5000
/** The maximum depth of references and `allOf` within one schema. */
const maxParts = 30
const remarks = ['title', 'description', 'default', 'examples', '$defs', 'definitions', '$schema']

/** A grammar for any JSON object. */
export const anyObjectGrammar = formatRules(new Map([['root', 'object']]))

/** Converts a schema to a grammar. Throws a `SchemaError` that states which keyword cannot be enforced. */
export function jsonGrammar(schema: object): string {
  const rules = new Map<string, string>()
  const references = new Map<string, string>()

  function named(kind: string, body: string): string {
    const name = `${kind}-${rules.size}`
    if (rules.size >= maxRules) throw new SchemaError('it is too large')
    rules.set(name, body)
    return name
  }

  function visit(given: unknown, path: string): string {
    if (given === true) return 'value'
    if (!isSchema(given)) throw new SchemaError(`${path || 'it'} is not a schema`)
    if (isReference(given)) return reference(String(given.$ref), path)
    const schema = flat(given, path, 0)
    refuseImpossible(schema, path)
    const { anyOf, const: only, enum: several } = schema
    if (anyOf !== undefined) return either(schema, path)
    if (only !== undefined) return literal(only)
    if (several !== undefined)
      return named('enum', requireList(several, path).map(literal).join(' | '))
    const ways = listTypes(schema, path).map((type) => visitType(type, schema, path))
    return ways.length === 1 ? (ways[0] ?? 'value') : named('either', ways.join(' | '))
  }

  /** Merges the requirements of references, `allOf` and `oneOf` into the schema that contains them. */
  function flat(given: Schema, path: string, depth: number): Schema {
    if (depth > maxParts) throw new SchemaError(`${path || 'it'} refers to itself without end`)
    const { $ref, allOf, oneOf, ...own } = given
    const parts: unknown[] = [...(allOf === undefined ? [] : requireList(allOf, path))]
    if ($ref !== undefined) parts.push(at(schema as Schema, String($ref), path))
    if (oneOf !== undefined) parts.push({ anyOf: requireList(oneOf, path) })
    return parts.reduce<Schema>((all, part) => {
      if (part === true) return all
      if (!isSchema(part)) throw new SchemaError(`${path || 'it'} has a part that is not a schema`)
      return both(all, flat(part, path, depth + 1))
    }, own)
  }

  /** Keywords next to the alternatives apply to each alternative. */
  function either(schema: Schema, path: string): string {
    const { anyOf, ...rest } = schema
    const isAlone = Object.keys(rest).every((keyword) => remarks.includes(keyword))
    const ways = requireList(anyOf, path).map((one, index) =>
      visit(isAlone ? one : { ...rest, allOf: [one] }, `${path}/anyOf/${index}`),
    )
    return named('either', ways.join(' | '))
  }

  function visitType(type: string, schema: Schema, path: string): string {
    if (type === 'object') return object(schema, path)
    if (type === 'array') return array(schema, path)
    if (type === 'string') return string(schema, path)
    if (type === 'boolean' || type === 'null' || type === 'value') return type
    if (type !== 'integer' && type !== 'number') {
      throw new SchemaError(`${path}/type is ${type}, which is not a JSON type`)
    }
    const range = (type === 'integer' ? integerGrammar : numberGrammar)(getBounds(schema))
    if (range === undefined) throw cannot(path, 'these bounds')
    return named('number', range)
  }

  function string(schema: Schema, path: string): string {
    const format = findFormat(schema)
    if (format) return named('format', `"\\"" ${format} "\\""`)
    const { minLength = 0, maxLength } = schema
    checkLengths(minLength, maxLength, path)
    if (minLength === 0 && maxLength === undefined) return 'string'
    return named('string', `"\\"" char${repeated(minLength, maxLength, path)} "\\""`)
  }

  function array(schema: Schema, path: string): string {
    const { prefixItems, items = true, minItems = 0, maxItems } = schema
    checkLengths(minItems, maxItems, path)
    const first = (prefixItems === undefined ? [] : requireList(prefixItems, path))
      .slice(0, maxItems === undefined ? undefined : Number(maxItems))
      .map((one, index) => visit(one, `${path}/prefixItems/${index}`))
    if (items === false && Number(minItems) > first.length) {
      throw new SchemaError(`${path || 'it'} has a minimum number of items above the maximum`)
    }
    const min = Math.max(0, Number(minItems) - first.length)
    const max = maxItems === undefined ? undefined : Number(maxItems) - first.length
    const hasMore = items !== false && (max ?? 1) > 0
    const item = hasMore ? visit(items, `${path}/items`) : ''
    const comma = 'space "," space'
    let body = first.join(` ${comma} `)
    if (hasMore && first.length > 0) {
      body += ` (${comma} ${item})${repeated(min, max, path)}`
    } else if (hasMore) {
      const others = `(${comma} ${item})${repeated(Math.max(0, min - 1), max && max - 1, path)}`
      body = min > 0 ? `${item} ${others}` : `(${item} ${others})?`
    }
    return named('array', `"[" space ${body} space "]"`)
  }

  function object(schema: Schema, path: string): string {
    const { properties = {}, additionalProperties, required } = schema
    if (!isSchema(properties)) throw new SchemaError(`${path}/properties is not an object`)
    const names = Object.keys(properties)
    const needs = required === undefined ? [] : requireList(required, path, true)
    const isNeeded = (name: string) => needs.includes(name)
    const unknown = needs.find((name) => !names.includes(String(name)))
    if (names.length === 0 && unknown === undefined) {
      if (additionalProperties === false) return named('object', '"{" space "}"')
      if (!isSchema(additionalProperties)) return 'object'
    }
    if (unknown !== undefined)
      throw new SchemaError(`${path}/required: ${unknown} is not a property`)
    const pair = (name: string) => {
      const value = visit(properties[name], `${path}/properties/${name}`)
      return `${literal(name)} space ":" space ${value}`
    }
    const needed = names.filter(isNeeded).map(pair)
    const optional = names.filter((name) => !isNeeded(name)).map(pair)
    const more = additionalProperties ? additional(additionalProperties, path) : undefined
    return named('object', `"{" space ${members(needed, optional, more)} space "}"`)
  }

  function additional(schema: unknown, path: string): string {
    return `string space ":" space ${visit(schema, `${path}/additionalProperties`)}`
  }

  /**
   * The members of an object. Any optional property may be omitted, and each property after the first is preceded by a
   * comma.
   */
  function members(needed: string[], optional: string[], more: string | undefined): string {
    const comma = 'space "," space'
    // The rules are built from the last property to the first. Each tail is a separate rule. Otherwise, the size of the
    // grammar would grow quadratically with the number of properties.
    let tail = more ? named('tail', `(${comma} ${more})*`) : ''
    let beginnings = more ? [`${more} ${tail}`] : []
    for (const pair of optional.toReversed()) {
      beginnings = [named('begin', [`${pair} ${tail}`, ...beginnings].join(' | '))]
      tail = named('tail', `(${comma} ${pair})? ${tail}`)
    }
    if (needed.length > 0) return `${needed.join(` ${comma} `)} ${tail}`
    return beginnings.length > 0 ? `(${beginnings.join(' | ')})?` : ''
  }

  /** Creates one rule per definition, so that a schema may refer to itself. */
  function reference(pointer: string, path: string): string {
    const known = references.get(pointer)
    if (known) return known
    const name = `reference-${references.size}`
    references.set(pointer, name)
    rules.set(name, visit(at(schema as Schema, pointer, path), pointer))
    return name
  }

  rules.set('root', visit(schema, ''))
  return formatRules(rules)
}

function formatRules(rules: Map<string, string>): string {
  const all = new Map([...Object.entries(basics), ...rules])
  return Array.from(all, ([name, body]) => `${name} ::= ${body}\n`).join('')
}

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function cannot(path: string, what: string): SchemaError {
  return new SchemaError(`${path === '' ? '' : `${path}: `}${what} cannot be enforced`)
}

/** Whether the schema is only a reference. A reference gets its own rule, because it may be part of a cycle. */
function isReference(schema: Schema): boolean {
  const others = Object.keys(schema).filter((keyword) => !remarks.includes(keyword))
  return typeof schema.$ref === 'string' && others.join() === '$ref'
}

function refuseImpossible(schema: Schema, path: string) {
  for (const keyword of impossible) {
    // Some libraries write a pattern in addition to the format, with the same meaning.
    if (keyword === 'pattern' && findFormat(schema)) continue
    const value = schema[keyword]
    if (value !== undefined && value !== false && value !== 0) throw cannot(path, keyword)
  }
  const { propertyNames } = schema
  const saysNothing = isSchema(propertyNames) && Object.keys(propertyNames).join() === 'type'
  if (propertyNames !== undefined && !saysNothing) throw cannot(path, 'propertyNames')
}

/** The schema's types, or the types to which its keywords apply. */
function listTypes(schema: Schema, path: string): string[] {
  if (schema.type !== undefined) return requireList([schema.type].flat(), path).map(String)
  if (schema.properties !== undefined || schema.additionalProperties !== undefined) {
    return ['object']
  }
  if (schema.items !== undefined || schema.prefixItems !== undefined) return ['array']
  return ['value']
}

/** Resolves a JSON pointer (RFC 6901) within the schema. */
function at(root: Schema, pointer: string, path: string): unknown {
  if (!/^#(\/|$)/.test(pointer)) throw cannot(path, `a $ref to ${pointer}`)
  const steps = pointer.slice(1).split('/').slice(1)
  const unescaped = steps.map((step) =>
    decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~'),
  )
  const found = unescaped.reduce<unknown>(
    (place, step) => (typeof place === 'object' ? (place as Schema | null)?.[step] : undefined),
    root,
  )
  if (found === undefined) throw new SchemaError(`${path}: $ref ${pointer} does not exist`)
  return found
}

function getBounds(schema: Schema): Bounds {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema as Record<
    string,
    number | undefined
  >
  return {
    min: exclusiveMinimum ?? minimum,
    max: exclusiveMaximum ?? maximum,
    isMinExclusive: exclusiveMinimum !== undefined,
    isMaxExclusive: exclusiveMaximum !== undefined,
  }
}

function findFormat({ format }: Schema): string | undefined {
  return typeof format === 'string' && Object.hasOwn(formats, format) ? formats[format] : undefined
}

/** Returns the value if it is a list. An empty list is rejected by default, because nothing matches an empty choice. */
function requireList(value: unknown, path: string, mayBeEmpty = false): unknown[] {
  if (Array.isArray(value) && (mayBeEmpty || value.length > 0)) return value
  throw new SchemaError(`${path || 'it'} has a keyword that requires a list`)
}

function checkLengths(min: unknown, max: unknown, path: string) {
  const isLength = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0
  const isSound = isLength(min) && (max === undefined || isLength(max))
  if (!isSound) throw new SchemaError(`${path || 'it'} has an invalid length`)
  if (max !== undefined && Number(min) > Number(max)) {
    throw new SchemaError(`${path || 'it'} has a minimum length above the maximum`)
  }
}

function repeated(min: unknown, max: unknown, path: string): string {
  if (Math.max(Number(min), Number(max ?? 0)) > maxRepetitions) {
    throw cannot(path, `a length of more than ${maxRepetitions}`)
  }
  if (max === undefined && Number(min) === 0) return '*'
  return `{${min},${max ?? ''}}`
}

function literal(value: unknown): string {
  const json = JSON.stringify(value)
  return `"${json.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}
