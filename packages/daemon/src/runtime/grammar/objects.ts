/** Objects. Their members are in the order of the schema, required ones first. */
import { type Automaton, accepts, intersect, isEmpty, listedTexts, negate } from './automaton.ts'
import { quotedGrammar } from './automaton-grammar.ts'
import type { Conversion } from './conversion.ts'
import { choice, type Node, nothing, rule } from './gbnf.ts'
import { literal, member } from './json-text.ts'
import { type Members, membersNode } from './members.ts'
import { has, lengthsOf, requireList, requireMembers, type Schema, valuesOf } from './schema.ts'
import { cannot } from './schema-error.ts'
import { findPattern, orRefuse, stringAutomaton } from './strings.ts'
import { isAllowed, listedValues, refuseExcluded } from './values.ts'

export function objectNode(conversion: Conversion, parts: readonly Schema[], path: string): Node {
  const { explain, visit } = conversion
  refuseExcluded('object', parts, path)
  const lengths = lengthsOf(parts, ['minProperties', 'maxProperties'], path)
  const names = allowedNames(conversion, parts, path)
  const required = new Set(requiredNames(parts, path))
  const schemasOf = (name: string) => memberSchemas(conversion, parts, name, path)
  const isWritten = (name: string) => names.allows(name) && !schemasOf(name).includes(false)
  const forbidden = [...required].find((name) => !isWritten(name))
  if (forbidden !== undefined) {
    explain(path, `the property ${forbidden} is required, but not allowed`)
    return nothing
  }
  const all = [...new Set([...declaredNames(parts, path), ...required, ...(names.list ?? [])])]
  const pair = (name: string) =>
    member(literal(name), visit(schemasOf(name), `${path}/properties/${name}`))
  const written = all.filter(isWritten)
  const needed = written.filter((name) => required.has(name))
  const others = names.list ? undefined : otherMembers(conversion, parts, all, path)
  const isAny = others === anyMember && lengths.min === 0 && lengths.max === Infinity
  if (isAny) return rule('object')
  if (written.length - needed.length > maxOptional) {
    throw cannot(path, 'properties', `more than ${maxOptional} of them are not required`)
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

/** Fewer than `maxAlternatives`, because any of them could be next. */
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

/** The schemas that the value of a property has to match. */
export function memberSchemas(
  conversion: Conversion,
  parts: readonly Schema[],
  name: string,
  path: string,
): unknown[] {
  const schemas = parts.flatMap((part) => {
    const properties = requireMembers(part, 'properties', path)
    const patterns = Object.entries(requireMembers(part, 'patternProperties', path))
    const own = [
      ...(Object.hasOwn(properties, name) ? [properties[name]] : []),
      ...patterns
        .filter(([pattern]) => accepts(findPattern(conversion, pattern, path), name))
        .map(([, schema]) => schema),
    ]
    return own.length > 0 ? own : valuesOf([part], 'additionalProperties')
  })
  return schemas.length > 0 ? schemas : valuesOf(parts, 'unevaluatedProperties')
}

type Names = { allows: (name: string) => boolean; list: string[] | undefined }

/** The names that `propertyNames` allows. They may be listed. */
function allowedNames(conversion: Conversion, parts: readonly Schema[], path: string): Names {
  const schemas = valuesOf(parts, 'propertyNames')
  if (schemas.length === 0) return { allows: () => true, list: undefined }
  const place = `${path}/propertyNames`
  const names = conversion.simplify(schemas, place)
  if (names.choices.length > 0) throw cannot(path, 'propertyNames', 'it has alternatives')
  const list = listedValues(conversion, names.parts, place)?.filter(
    (name) => typeof name === 'string',
  )
  return {
    list,
    allows: (name) => list?.includes(name) ?? isAllowed(conversion, name, names.parts, place),
  }
}

/** A member with any name and any value. */
const anyMember = rule('pair')

/**
 * The members whose names are not in `known`; undefined if there are none. An object with `properties` has others only
 * if the schema says so with another keyword, although JSON Schema always allows them.
 */
function otherMembers(
  conversion: Conversion,
  parts: readonly Schema[],
  known: readonly string[],
  path: string,
): Node | undefined {
  const { grammar, budget, visit } = conversion
  const patterns = declaredPatterns(parts, path)
  const additional = valuesOf(parts, 'additionalProperties')
  const isMap = known.length === 0 && patterns.length === 0 && additional.length === 0
  const schemas = isMap ? valuesOf(parts, 'unevaluatedProperties') : additional
  const hasNames = parts.some((part) => has(part, 'propertyNames'))
  if (isMap && schemas.length === 0 && !hasNames) return anyMember
  const isOpen = (isMap || additional.length > 0) && !schemas.includes(false)
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
    // Names that match several patterns are left out.
    const matching = patterns.flatMap((pattern) => {
      const rest = patterns.filter((other) => other !== pattern).map(found)
      const own = intersect(budget, without(names, rest), found(pattern))
      return members(own, patternSchemas(parts, pattern, path), `${path}/patternProperties`)
    })
    const rest = isOpen
      ? members(without(names, patterns.map(found)), schemas, `${path}/additionalProperties`)
      : []
    const all = [...matching, ...rest]
    return all.length === 0 ? undefined : grammar.add('other', choice(...all))
  })
}

/** The schemas of the members whose names match only this pattern. */
const patternSchemas = (parts: readonly Schema[], pattern: string, path: string): unknown[] =>
  parts.flatMap((part) => {
    const own = requireMembers(part, 'patternProperties', path)
    return Object.hasOwn(own, pattern) ? [own[pattern]] : valuesOf([part], 'additionalProperties')
  })

/** The texts that `propertyNames` allows. */
function otherNames(conversion: Conversion, parts: readonly Schema[], path: string): Automaton {
  const place = `${path}/propertyNames`
  const names = conversion.simplify(valuesOf(parts, 'propertyNames'), place)
  return stringAutomaton(conversion, names.parts, place)
}
