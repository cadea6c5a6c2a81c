import { SchemaError } from './schema-error.ts'

export type Schema = { [keyword: string]: unknown }

/**
 * Combines two schemas into one that requires everything that either schema requires. Throws a `SchemaError` if this
 * cannot be expressed.
 */
export function both(one: Schema, other: Schema): Schema {
  const all: Schema = { ...one, ...other }
  for (const keyword of Object.keys(one).filter((key) => Object.hasOwn(other, key))) {
    all[keyword] = together(keyword, one[keyword], other[keyword])
  }
  return all
}

function together(keyword: string, a: unknown, b: unknown): unknown {
  if (JSON.stringify(a) === JSON.stringify(b) || isRemark(keyword)) return b
  switch (keyword) {
    case 'required':
      return [...new Set([a, b].flat())]
    case 'properties':
    case '$defs':
    case 'definitions':
      return mergeMembers(a as Schema, b as Schema)
    case 'minimum':
    case 'exclusiveMinimum':
    case 'minLength':
    case 'minItems':
      return Math.max(Number(a), Number(b))
    case 'maximum':
    case 'exclusiveMaximum':
    case 'maxLength':
    case 'maxItems':
      return Math.min(Number(a), Number(b))
    case 'type':
    case 'enum':
      return shared(keyword, [a].flat(), [b].flat())
    case 'anyOf':
      return alternatives(a as unknown[], b as unknown[])
    case 'items':
    case 'additionalProperties':
      return a === false || b === false ? false : { allOf: [a, b] }
    default:
      throw new SchemaError(`two of its parts contradict each other in ${keyword}`)
  }
}

/** Whether a keyword is an annotation for people, which does not affect the value. */
const isRemark = (keyword: string) =>
  ['title', 'description', 'default', 'examples', '$comment', '$id', '$schema'].includes(keyword)

function mergeMembers(a: Schema, b: Schema): Schema {
  const names = Object.keys(a).filter((name) => Object.hasOwn(b, name))
  return {
    ...a,
    ...b,
    ...Object.fromEntries(names.map((name) => [name, { allOf: [a[name], b[name]] }])),
  }
}

function shared(keyword: string, a: unknown[], b: unknown[]): unknown[] {
  const isIn = (value: unknown) => b.some((one) => JSON.stringify(one) === JSON.stringify(value))
  const values = a.filter(isIn)
  if (values.length > 0) return values
  throw new SchemaError(`two of its parts have no ${keyword} in common`)
}

/** Combines each alternative of one schema with each alternative of the other. */
function alternatives(a: unknown[], b: unknown[]): unknown[] {
  return a.flatMap((one) => b.map((other) => ({ allOf: [one, other] })))
}
