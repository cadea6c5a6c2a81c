/** Determines whether a value could match several schemas. */
import { intersect, isEmpty, spend } from '../automata/automaton.ts'
import type { Conjunction } from '../schema/conjunction.ts'
import { has, type Schema } from '../schema/schema.ts'
import type { Conversion } from './conversion.ts'
import { limitsOf } from './numbers.ts'
import { declaredNames, memberSchemas, requiredNames } from './objects.ts'
import { stringAutomaton } from './strings.ts'
import { allowedTypes, canonical, isAllowed, listedValues, writtenTypes } from './values.ts'

const maxDepth = 4

type Pair<T> = { written: T; other: T }

/**
 * Whether `other` matches none of the values that the grammar of `written` allows. Returns false if this cannot be
 * determined.
 */
export function excludes(
  conversion: Conversion,
  { written, other }: Pair<Conjunction>,
  path: string,
  depth = 0,
): boolean {
  if (depth > maxDepth) return false
  spend(conversion.budget, 1)
  const withOption = ({ parts }: Conjunction, option: unknown): Conjunction => {
    const own = conversion.simplify([option], path)
    return { parts: [...parts, ...own.parts], choices: own.choices }
  }
  const isExcluded = (pair: Pair<Conjunction>) => excludes(conversion, pair, path, depth + 1)
  return (
    excludesParts(conversion, { written: written.parts, other: other.parts }, path, depth) ||
    written.choices.some(({ options }) =>
      options.every((one) => isExcluded({ written: withOption(written, one), other })),
    ) ||
    other.choices.some(({ options }) =>
      options.every((one) => isExcluded({ written, other: withOption(other, one) })),
    )
  )
}

function excludesParts(
  conversion: Conversion,
  pair: Pair<readonly Schema[]>,
  path: string,
  depth: number,
): boolean {
  const { written, other } = pair
  const allowed = allowedTypes(other, path)
  const shared = writtenTypes(written, path).filter(
    (type) => allowed.includes(type) || (type === 'number' && allowed.includes('integer')),
  )
  if (shared.length === 0) return true
  const listed = excludesListed(conversion, pair, path)
  if (listed !== undefined) return listed
  return shared.every((type) => {
    if (type === 'object') return excludesObjects(conversion, pair, path, depth)
    if (type === 'number' || type === 'integer') return excludesNumbers(pair, path)
    if (type !== 'string') return false
    const [own, others] = [written, other].map((parts) => stringAutomaton(conversion, parts, path))
    return Boolean(own && others && isEmpty(intersect(conversion.budget, own, others)))
  })
}

/**
 * Whether no value matches both schemas, if at least one of them lists its values. Returns undefined if neither lists
 * its values, or if a listed array or object would have to be checked against a schema.
 */
function excludesListed(
  conversion: Conversion,
  { written, other }: Pair<readonly Schema[]>,
  path: string,
): boolean | undefined {
  const [own, others] = [written, other].map((parts) => listedValues(conversion, parts, path))
  if (own && others) {
    const texts = new Set(others.map(canonical))
    return !own.some((value) => texts.has(canonical(value)))
  }
  const [values, parts] = own ? [own, other] : [others, written]
  if (!values?.every((value) => typeof value !== 'object' || value === null)) return undefined
  return !values.some((value) => isAllowed(conversion, value, parts, path))
}

/**
 * Objects of `written` do not match `other` in two cases: `other` requires a property that they cannot have, or
 * `written` requires a property for which the two schemas exclude each other.
 */
function excludesObjects(
  conversion: Conversion,
  { written, other }: Pair<readonly Schema[]>,
  path: string,
  depth: number,
): boolean {
  const needed = requiredNames(written, path)
  const names = new Set([...needed, ...declaredNames(written, path)])
  const isClosed =
    names.size > 0 &&
    !written.some((part) => has(part, 'patternProperties') || has(part, 'propertyNames')) &&
    written.every(
      (part) => !has(part, 'additionalProperties') || part.additionalProperties === false,
    )
  if (isClosed && requiredNames(other, path).some((name) => !names.has(name))) return true
  return needed.some((name) => {
    const [own, others] = [written, other].map((parts) =>
      conversion.simplify(memberSchemas(conversion, parts, name, path), path),
    )
    return own && others && excludes(conversion, { written: own, other: others }, path, depth + 1)
  })
}

function excludesNumbers({ written, other }: Pair<readonly Schema[]>, path: string): boolean {
  const [own, others] = [written, other].map((parts) => {
    const { minimums, maximums } = limitsOf(parts, path)
    const bounds = [...minimums, ...maximums]
    return {
      min: Math.max(...minimums.map(({ value }) => value)),
      max: Math.min(...maximums.map(({ value }) => value)),
      isExclusive: bounds.length > 0 && bounds.every(({ isExclusive }) => isExclusive),
    }
  })
  if (!own || !others) return false
  const isBelow = (max: number, min: number) =>
    own.isExclusive || others.isExclusive ? max <= min : max < min
  return isBelow(own.max, others.min) || isBelow(others.max, own.min)
}

/**
 * Whether no value matches all parts. Returns false if this cannot be determined. Impossible alternatives are not
 * converted.
 */
export function isImpossible(
  conversion: Conversion,
  parts: readonly Schema[],
  path: string,
  depth = 0,
): boolean {
  spend(conversion.budget, 1)
  const types = allowedTypes(parts, path)
  if (types.length === 0) return true
  if (listedValues(conversion, parts, path)?.length === 0) return true
  if (depth >= maxDepth || types.some((type) => type !== 'object')) return false
  return requiredNames(parts, path).some((name) => {
    const member = conversion.simplify(memberSchemas(conversion, parts, name, path), path)
    return isImpossible(conversion, member.parts, path, depth + 1)
  })
}
