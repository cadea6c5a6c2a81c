/** Converts object schemas to grammars. Members are generated in the order of the schema, required members first. */
import {
  type Automaton,
  accepts,
  intersect,
  isEmpty,
  listedTexts,
  negate,
  spend,
} from '../automata/automaton.ts'
import { quotedGrammar } from '../gbnf/automaton-grammar.ts'
import { choice, type Node, nothing, rule } from '../gbnf/node.ts'
import {
  has,
  lengthsOf,
  requireList,
  requireMembers,
  type Schema,
  valuesOf,
} from '../schema/schema.ts'
import { cannot } from '../schema/schema-error.ts'
import type { Conversion } from './conversion.ts'
import { literal, member } from './json-text.ts'
import { type Members, membersNode } from './members.ts'
import { findPattern, orRefuse, stringAutomaton } from './strings.ts'
import { isAllowed, listedValues, refuseExcluded } from './values.ts'

export function objectNode(conversion: Conversion, parts: readonly Schema[], path: string): Node {
  const { explain, visit } = conversion
  refuseExcluded('object', parts, path)
  const lengths = lengthsOf(parts, ['minProperties', 'maxProperties'], path)
  const names = allowedNames(conversion, parts, path)
  const required = new Set(requiredNames(parts, path))
  const schemasFor = (name: string) => memberSchemas(conversion, parts, name, path)
  spend(conversion.budget, required.size)
  const isWritten = (name: string) => names.allows(name) && !schemasFor(name).includes(false)
  const forbidden = [...required].find((name) => !isWritten(name))
  if (forbidden !== undefined) {
    explain(path, `the property ${forbidden} is required, but not allowed`)
    return nothing
  }
  const all = [...new Set([...declaredNames(parts, path), ...required, ...(names.list ?? [])])]
  const pair = (name: string) =>
    member(literal(name), visit(schemasFor(name), `${path}/properties/${name}`))
  const written = all.filter(isWritten)
  const needed = written.filter((name) => required.has(name))
  const others = names.list ? undefined : otherMembers(conversion, parts, all, path)
  const isAny = others === anyMember && lengths.min === 0 && lengths.max === Infinity
  if (isAny) return rule('object')
  if (written.length - needed.length > maxOptional) {
    throw cannot(path, 'properties', `more than ${maxOptional} of them are optional`)
  }
  const members: Members = {
    needed: needed.map(pair),
    optional: written.filter((name) => !required.has(name)).map(pair),
    others,
  }
  if (needed.length > lengths.max) {
    explain(path, 'it requires more properties than maxProperties allows')
    return nothing
  }
  return membersNode(conversion, members, lengths, path)
}

/**
 * The maximum number of optional properties. It is below `maxAlternatives`, because any of these properties could come
 * next.
 */
const maxOptional = 1500

/** The names in `properties`. */
export const declaredNames = (parts: readonly Schema[], path: string): string[] =>
  parts.flatMap((part) => Object.keys(requireMembers(part, 'properties', path)))

export const requiredNames = (parts: readonly Schema[], path: string): string[] =>
  parts.flatMap((part) =>
    has(part, 'required') ? requireList(part, 'required', path, true).map(String) : [],
  )

const declaredPatterns = (parts: readonly Schema[], path: string): string[] => [
  ...new Set(parts.flatMap((part) => Object.keys(requireMembers(part, 'patternProperties', path)))),
]

/** The schemas that the value of the property `name` must match. */
export function memberSchemas(
  conversion: Conversion,
  parts: readonly Schema[],
  name: string,
  path: string,
): unknown[] {
  return schemasOf(conversion, parts, (part) => {
    const properties = requireMembers(part, 'properties', path)
    const patterns = Object.entries(requireMembers(part, 'patternProperties', path))
    return [
      ...(Object.hasOwn(properties, name) ? [properties[name]] : []),
      ...patterns
        .filter(([pattern]) => accepts(findPattern(conversion, pattern, path), name))
        .map(([, schema]) => schema),
    ]
  })
}

/**
 * The schemas that a member must match. For each part, these are the schemas that `own` returns or, if it returns none,
 * `additionalProperties`. A part's `unevaluatedProperties` applies only if neither the part nor any part within it has
 * such a schema, and no part within it has its own `unevaluatedProperties`.
 */
function schemasOf(
  { budget, isWithin }: Conversion,
  parts: readonly Schema[],
  own: (part: Schema) => readonly unknown[],
): unknown[] {
  spend(budget, parts.length >> 4)
  const found = parts.map((part) => {
    const schemas = own(part)
    return schemas.length > 0 ? schemas : valuesOf([part], 'additionalProperties')
  })
  const unevaluated = parts
    .filter((part, index) => has(part, 'unevaluatedProperties') && found[index]?.length === 0)
    .filter((outer) => {
      const inner = parts.filter((part) => part !== outer && isWithin(part, outer))
      return !inner.some(
        (part) => found[parts.indexOf(part)]?.length !== 0 || has(part, 'unevaluatedProperties'),
      )
    })
  return [...found.flat(), ...valuesOf(unevaluated, 'unevaluatedProperties')]
}

type Names = { allows: (name: string) => boolean; list: string[] | undefined }

/**
 * The names that `propertyNames` allows. `list` contains these names if the schema lists them in `enum` or `const`;
 * otherwise, it is undefined.
 */
function allowedNames(conversion: Conversion, parts: readonly Schema[], path: string): Names {
  const schemas = valuesOf(parts, 'propertyNames')
  if (schemas.length === 0) return { allows: () => true, list: undefined }
  const place = `${path}/propertyNames`
  const names = conversion.simplify(schemas, place)
  if (names.choices.length > 0) throw cannot(path, 'propertyNames', 'it has alternatives')
  const list = listedValues(conversion, names.parts, place)?.filter(
    (name) => typeof name === 'string',
  )
  const listed = list && new Set(list)
  return {
    list,
    allows: (name) => listed?.has(name) ?? isAllowed(conversion, name, names.parts, place),
  }
}

/** A member with any name and any value. */
const anyMember = rule('pair')

/**
 * The members whose names are not in `known`; undefined if there are none. An object with `properties` has other
 * members only if another keyword explicitly allows them, although JSON Schema allows them by default.
 */
function otherMembers(
  conversion: Conversion,
  parts: readonly Schema[],
  known: readonly string[],
  path: string,
): Node | undefined {
  const { grammar, budget, visit } = conversion
  const patterns = declaredPatterns(parts, path)
  const hasAdditional = parts.some((part) => has(part, 'additionalProperties'))
  const isMap = known.length === 0 && patterns.length === 0 && !hasAdditional
  const schemas = patternSchemas(conversion, parts, undefined, path)
  const hasNames = parts.some((part) => has(part, 'propertyNames'))
  if (isMap && schemas.length === 0 && !hasNames) return anyMember
  const isOpen = (isMap || hasAdditional) && !schemas.includes(false)
  if (!isOpen && patterns.length === 0) return undefined

  const found = (pattern: string) => findPattern(conversion, pattern, path)
  const without = (all: Automaton, excluded: readonly Automaton[]) =>
    excluded.reduce((names, one) => intersect(budget, names, negate(budget, one)), all)
  function members(names: Automaton, own: readonly unknown[], place: string): Node[] {
    if (isEmpty(names) || own.includes(false)) return []
    return [member(quotedGrammar(grammar, names), visit(own, place))]
  }
  return orRefuse(path, patterns.length > 0 ? 'patternProperties' : 'additionalProperties', () => {
    const allowed = otherNames(conversion, parts, path)
    const names = known.length === 0 ? allowed : without(allowed, [listedTexts(budget, known)])
    // Names that match several patterns are not generated.
    const matching = patterns.flatMap((pattern) => {
      const rest = patterns.filter((other) => other !== pattern).map(found)
      const own = intersect(budget, without(names, rest), found(pattern))
      return members(
        own,
        patternSchemas(conversion, parts, pattern, path),
        `${path}/patternProperties`,
      )
    })
    const rest = isOpen
      ? members(without(names, patterns.map(found)), schemas, `${path}/additionalProperties`)
      : []
    const all = [...matching, ...rest]
    return all.length === 0 ? undefined : grammar.add('other', choice(...all))
  })
}

/** The schemas of the members whose names match only this pattern or, if `pattern` is undefined, no pattern. */
const patternSchemas = (
  conversion: Conversion,
  parts: readonly Schema[],
  pattern: string | undefined,
  path: string,
): unknown[] =>
  schemasOf(conversion, parts, (part) => {
    const own = requireMembers(part, 'patternProperties', path)
    return pattern !== undefined && Object.hasOwn(own, pattern) ? [own[pattern]] : []
  })

/** An automaton that accepts the names that `propertyNames` allows. */
function otherNames(conversion: Conversion, parts: readonly Schema[], path: string): Automaton {
  const place = `${path}/propertyNames`
  const names = conversion.simplify(valuesOf(parts, 'propertyNames'), place)
  return stringAutomaton(conversion, names.parts, place)
}
