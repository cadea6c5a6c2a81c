/** Converts number schemas to grammars: bounds and multiples. */
import { isEmpty } from '../automata/automaton.ts'
import {
  type Bound,
  isMultiple,
  type Limits,
  numberAutomaton,
} from '../automata/number-automaton.ts'
import { plainGrammar } from '../gbnf/automaton-grammar.ts'
import { type Node, nothing, rule } from '../gbnf/node.ts'
import { notEnum, notMultipleOf, numbersOf, type Schema, valuesOf } from '../schema/schema.ts'
import { at, SchemaError } from '../schema/schema-error.ts'
import type { Conversion } from './conversion.ts'
import { integerGrammar } from './integer-grammar.ts'
import { orRefuse } from './strings.ts'

export function numberNode(
  { grammar, budget, explain }: Conversion,
  parts: readonly Schema[],
  isInteger: boolean,
  path: string,
): Node {
  const limits = limitsOf(parts, path)
  const hasBounds = limits.minimums.length + limits.maximums.length > 0
  const { multiples, notMultiples, notValues } = limits
  const hasOthers = multiples.length + notMultiples.length + notValues.length > 0
  if (!hasBounds && !hasOthers) return rule(isInteger ? 'integer' : 'number')
  if (isInteger && !hasOthers) {
    const { from, to } = integersOf(limits)
    if (from > to) explain(path, 'no integer is within its bounds')
    return integerGrammar(from, to)
  }
  const keyword =
    multiples.length + notMultiples.length > 0 ? 'multipleOf' : 'its combination of bounds'
  const automaton = orRefuse(path, keyword, () => numberAutomaton(budget, limits, isInteger))
  if (!isEmpty(automaton)) return plainGrammar(grammar, automaton)
  explain(path, 'no number that can be generated matches all of its keywords')
  return nothing
}

/** The first and the last integer within the bounds. */
function integersOf({ minimums, maximums }: Limits): { from: number; to: number } {
  const from = minimums.map(({ value, isExclusive }) =>
    isExclusive ? Math.floor(value) + 1 : Math.ceil(value),
  )
  const to = maximums.map(({ value, isExclusive }) =>
    isExclusive ? Math.ceil(value) - 1 : Math.floor(value),
  )
  return { from: Math.max(...from), to: Math.min(...to) }
}

export function limitsOf(parts: readonly Schema[], path: string): Limits {
  return {
    minimums: parts.flatMap((part) => boundsOf(part, 'minimum', 'exclusiveMinimum', path)),
    maximums: parts.flatMap((part) => boundsOf(part, 'maximum', 'exclusiveMaximum', path)),
    multiples: factorsOf(parts, 'multipleOf', path),
    notMultiples: factorsOf(parts, notMultipleOf, path),
    notValues: valuesOf(parts, notEnum)
      .flat()
      .filter((value) => typeof value === 'number'),
  }
}

/** In draft 4 of JSON Schema, `exclusiveMinimum: true` makes `minimum` exclusive. */
function boundsOf(part: Schema, keyword: string, exclusive: string, path: string): Bound[] {
  const isFlag = typeof part[exclusive] === 'boolean'
  const inclusiveBounds = numbersOf([part], keyword, path).map((value) => ({
    value,
    isExclusive: part[exclusive] === true,
  }))
  const exclusiveBounds = isFlag ? [] : numbersOf([part], exclusive, path)
  return [...inclusiveBounds, ...exclusiveBounds.map((value) => ({ value, isExclusive: true }))]
}

function factorsOf(parts: readonly Schema[], keyword: string | symbol, path: string): number[] {
  const factors = numbersOf(parts, keyword, path)
  if (factors.every((factor) => factor > 0)) return factors
  throw new SchemaError(`${at(`${path}/multipleOf`)} is not greater than zero`)
}

/** Whether a number in `enum` matches the other keywords. */
export function isNumberAllowed(value: number, parts: readonly Schema[], path: string): boolean {
  const { minimums, maximums, multiples, notMultiples } = limitsOf(parts, path)
  return (
    minimums.every((min) => (min.isExclusive ? value > min.value : value >= min.value)) &&
    maximums.every((max) => (max.isExclusive ? value < max.value : value <= max.value)) &&
    multiples.every((factor) => isMultiple(value, factor)) &&
    !notMultiples.some((factor) => isMultiple(value, factor))
  )
}

/** The integers within the bounds; undefined if there are more than `max`. */
export function listIntegers(
  parts: readonly Schema[],
  max: number,
  path: string,
): number[] | undefined {
  const { from, to } = integersOf(limitsOf(parts, path))
  if (!(to - from < max)) return undefined
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index)
}
