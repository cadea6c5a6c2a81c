import { both, type Choice, type Conjunction } from '../schema/conjunction.ts'
import { cannot, SchemaError } from '../schema/schema-error.ts'
import type { Conversion } from './conversion.ts'
import { excludes } from './exclusion.ts'
import { orRefuse } from './strings.ts'

/**
 * Returns a function that simplifies the options of a choice. `base` is what a value must match in addition. Each
 * option of an exclusive choice is narrowed, so that it does not match the other options.
 */
export function choiceOptions(conversion: Conversion) {
  const isExcluded = (pair: { written: Conjunction; other: Conjunction }, path: string) =>
    orRefuse(path, 'oneOf', () => excludes(conversion, pair, path))

  const negations = new Map<unknown, object>()
  function notMatching(options: readonly unknown[], [one, other]: [number, number], path: string) {
    const option = options[other]
    const negation = negations.get(option) ?? { not: option }
    negations.set(option, negation)
    try {
      return conversion.simplify([negation], path)
    } catch (error) {
      if (!(error instanceof SchemaError)) throw error
      throw cannot(path, 'oneOf', `a value could match both ${one} and ${other}`)
    }
  }

  return ({ options, isExclusive }: Choice, base: Conjunction, path: string): Conjunction[] => {
    const all = options.map((option) => conversion.simplify([option], path))
    if (!isExclusive) return all
    return all.map((own, index) =>
      all.reduce((narrowed, other, otherIndex) => {
        const pair = { written: both(base, own), other: both(base, other) }
        if (otherIndex === index || isExcluded(pair, path)) return narrowed
        return both(narrowed, notMatching(options, [index, otherIndex], path))
      }, own),
    )
  }
}
