/** The arguments of a tool, for formats in which each argument is written separately. */

import type { Conversion } from '../json/conversion.ts'
import { declaredNames, memberSchemas, requiredNames } from '../json/objects.ts'
import { has, lengthsOf } from '../schema/schema.ts'
import { cannot } from '../schema/schema-error.ts'
import { propertySchema, typesOf } from '../schema/schema-types.ts'
import type { CallTool } from './call-syntax.ts'

export type Argument = {
  name: string
  isRequired: boolean
  /** The schemas that the value must match, and the place of the argument in the tool's schema. */
  schemas: readonly unknown[]
  place: string
  /** The JSON types that the schemas allow; empty if the schemas do not specify types. */
  types: ReadonlySet<string>
}

/** The keywords that apply to arguments whose names are not listed. */
const unnamedKeywords = ['additionalProperties', 'patternProperties', 'unevaluatedProperties']

/**
 * Returns a tool's arguments. Throws a `SchemaError` if a keyword makes arguments depend on each other or allows
 * arguments whose names are not listed.
 */
export function argumentSchemas(
  conversion: Conversion,
  { schema, place, root }: CallTool,
): Argument[] {
  const { parts, choices } = conversion.simplify([schema], place)
  if (choices.length > 0) throw cannot(place, 'a choice between several lists of arguments')
  const { min, max } = lengthsOf(parts, ['minProperties', 'maxProperties'], place)
  if (min > 0 || max < Infinity) throw cannot(place, 'the number of arguments')
  const unnamed = unnamedKeywords.find((keyword) =>
    parts.some((part) => has(part, keyword) && part[keyword] !== false),
  )
  if (unnamed !== undefined) throw cannot(place, unnamed)
  const required = new Set(requiredNames(parts, place))
  const names = [...new Set([...declaredNames(parts, place), ...required])]
  return names.map((name) => ({
    name,
    isRequired: required.has(name),
    schemas: memberSchemas(conversion, parts, name, place),
    place: `${place}/properties/${name}`,
    types: typesOf(propertySchema(schema, name, root), root),
  }))
}
