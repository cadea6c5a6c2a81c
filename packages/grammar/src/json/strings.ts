/** Converts string schemas to grammars: patterns, formats and lengths. */
import {
  type Automaton,
  accepts,
  everyText,
  intersect,
  isEmpty,
  listedTexts,
  negate,
  ofLength,
  TooLarge,
} from '../automata/automaton.ts'
import { patternAutomaton } from '../automata/pattern-automaton.ts'
import { PatternError } from '../automata/pattern-parser.ts'
import { quotedGrammar } from '../gbnf/automaton-grammar.ts'
import { type Node, nothing, rule, sequence, text } from '../gbnf/node.ts'
import { counted } from '../gbnf/repetition.ts'
import { isImplied, patternOfFormat } from '../schema/formats.ts'
import {
  type Lengths,
  lengthsOf,
  notEnum,
  notPattern,
  type Schema,
  valuesOf,
} from '../schema/schema.ts'
import { at, cannot, SchemaError } from '../schema/schema-error.ts'
import type { Conversion } from './conversion.ts'

const lengthKeywords = ['minLength', 'maxLength'] as const

export function stringNode(conversion: Conversion, parts: readonly Schema[], path: string): Node {
  const { grammar, explain } = conversion
  const lengths = lengthsOf(parts, lengthKeywords, path)
  if (lengths.min > lengths.max) {
    explain(path, 'its minimum length is greater than its maximum length')
    return nothing
  }
  const automaton = withoutLengths(conversion, parts, path)
  if (automaton === everyText) {
    if (lengths.min === 0 && lengths.max === Infinity) return rule('string')
    return sequence(text('"'), counted(grammar, rule('char'), lengths), text('"'))
  }
  const limited = withLengths(conversion, automaton, lengths, path)
  if (isEmpty(limited)) {
    explain(path, 'no string matches all of its keywords')
    return nothing
  }
  return quotedGrammar(grammar, limited)
}

/** The strings that match all of the schemas. */
export const stringAutomaton = (
  conversion: Conversion,
  parts: readonly Schema[],
  path: string,
): Automaton =>
  withLengths(
    conversion,
    withoutLengths(conversion, parts, path),
    lengthsOf(parts, lengthKeywords, path),
    path,
  )

function withLengths(
  { budget }: Conversion,
  automaton: Automaton,
  { min, max }: Lengths,
  path: string,
): Automaton {
  if (min === 0 && max === Infinity) return automaton
  const keyword = max === Infinity ? 'minLength' : 'maxLength'
  return orRefuse(path, keyword, () => ofLength(budget, automaton, min, max))
}

function withoutLengths(conversion: Conversion, parts: readonly Schema[], path: string): Automaton {
  const { budget } = conversion
  const formats = valuesOf(parts, 'format')
  const patterns = valuesOf(parts, 'pattern').filter(
    (pattern) => !formats.some((format) => isImplied(pattern, format)),
  )
  const wanted = [...formats.flatMap((format) => patternOfFormat(format) ?? []), ...patterns]
  const unwanted = valuesOf(parts, notPattern)
  const texts = valuesOf(parts, notEnum)
    .flat()
    .filter((value) => typeof value === 'string')
  const keyword = wanted.length + unwanted.length > 0 ? 'pattern' : 'not'
  return orRefuse(path, keyword, () => {
    const excluded = [
      ...unwanted.map((pattern) => findPattern(conversion, pattern, path)),
      ...(texts.length > 0 ? [listedTexts(budget, texts)] : []),
    ]
    return [
      ...wanted.map((pattern) => findPattern(conversion, pattern, path)),
      ...excluded.map((automaton) => negate(budget, automaton)),
    ].reduce((all, one) => (all === everyText ? one : intersect(budget, all, one)), everyText)
  })
}

export function findPattern(
  { budget, patterns }: Conversion,
  pattern: unknown,
  path: string,
): Automaton {
  if (typeof pattern !== 'string') {
    throw new SchemaError(`${at(`${path}/pattern`)} is not a string`)
  }
  const known = patterns.get(pattern)
  if (known) return known
  const automaton = orRefuse(path, 'pattern', () => patternAutomaton(budget, pattern))
  patterns.set(pattern, automaton)
  return automaton
}

/**
 * Runs `make`. If an automaton would be too large or a pattern is not supported, throws a `SchemaError` that names the
 * keyword.
 */
export function orRefuse<T>(path: string, keyword: string, make: () => T): T {
  try {
    return make()
  } catch (error) {
    if (!(error instanceof TooLarge) && !(error instanceof PatternError)) throw error
    throw cannot(path, keyword, error.message)
  }
}

/** Whether a string in `enum` or a property name matches the other keywords. `format` is not checked. */
export function isStringAllowed(
  conversion: Conversion,
  value: string,
  parts: readonly Schema[],
  path: string,
): boolean {
  const { min, max } = lengthsOf(parts, lengthKeywords, path)
  const { length } = Array.from(value)
  const matches = (pattern: unknown) => accepts(findPattern(conversion, pattern, path), value)
  return (
    length >= min &&
    length <= max &&
    valuesOf(parts, 'pattern').every(matches) &&
    !valuesOf(parts, notPattern).some(matches)
  )
}
