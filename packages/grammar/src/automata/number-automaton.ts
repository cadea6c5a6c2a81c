/** Automata for numbers within bounds, and for multiples of a number. */
import {
  type Automaton,
  type Budget,
  build,
  everyText,
  intersect,
  negate,
  noText,
} from './automaton.ts'
import { chain, either, patternAutomaton } from './pattern-automaton.ts'

/** A number must satisfy all of these limits. */
export type Limits = {
  minimums: readonly Bound[]
  maximums: readonly Bound[]
  multiples: readonly number[]
  /** The number must not be a multiple of these. */
  notMultiples: readonly number[]
  /** The number must not be equal to these. */
  notValues: readonly number[]
}
export type Bound = { value: number; isExclusive: boolean }

const maxPlaces = 12
/** All numbers that these automata accept are below this number. */
const tooLarge = 1e16

const unlimited: Budget = { left: Infinity }
/**
 * Numbers of up to 15 digits, of which up to 12 are after the decimal point. Two different decimals of up to 15 digits
 * are never rounded to the same double. Therefore, a number whose decimal notation is below a bound is also below the
 * bound as a double.
 */
const decimals = patternAutomaton(
  unlimited,
  '^(?:(?:0|[1-9]\\d{0,2})(?:\\.\\d{1,12})?|[1-9]\\d{3,8}(?:\\.\\d{1,6})?|[1-9]\\d{9,14})$',
)
/** Integers below 9 × 10¹⁵, because JavaScript cannot represent all larger ones exactly. */
const integers = patternAutomaton(unlimited, '^(?:0|[1-9]\\d{0,14}|[1-8]\\d{15})$')
const minus = patternAutomaton(unlimited, '^-$')

/** An automaton for the numbers that satisfy all limits, in decimal notation. */
export function numberAutomaton(budget: Budget, limits: Limits, isInteger: boolean): Automaton {
  const { minimums, maximums } = limits
  const all = isInteger ? integers : decimals
  const isAlwaysNegative = maximums.some(({ value }) => value < 0)
  const positive = isAlwaysNegative ? noText : unsigned(budget, limits, all)
  if (minimums.some(({ value }) => value >= 0)) return positive
  const mirrored = {
    ...limits,
    minimums: [...maximums.map(opposite), { value: 0, isExclusive: true }],
    maximums: minimums.map(opposite),
    notValues: limits.notValues.map((value) => -value),
  }
  return either(budget, positive, chain(budget, minus, unsigned(budget, mirrored, all)))
}

const opposite = ({ value, isExclusive }: Bound): Bound => ({ value: -value, isExclusive })

/** The unsigned numbers that satisfy the limits. */
function unsigned(budget: Budget, limits: Limits, all: Automaton): Automaton {
  const not = (automaton: Automaton) => negate(budget, automaton)
  const hasPoint = all === decimals
  const parts = [
    ...limits.minimums.map((bound) => atLeast(budget, bound)),
    ...limits.maximums.map(({ value, isExclusive }) =>
      not(atLeast(budget, { value, isExclusive: !isExclusive })),
    ),
    ...limits.notValues.map((value) => not(equalTo(budget, value))),
    ...limits.multiples.map((factor) => multiplesOf(budget, factor, hasPoint)),
    ...limits.notMultiples.map((factor) => not(multiplesOf(budget, factor, hasPoint))),
  ]
  return parts.reduce((numbers, part) => intersect(budget, numbers, part), all)
}

function equalTo(budget: Budget, value: number): Automaton {
  if (value < 0) return noText
  const above = atLeast(budget, { value, isExclusive: true })
  return intersect(budget, atLeast(budget, { value, isExclusive: false }), negate(budget, above))
}

/** The unsigned numbers that are greater than a bound, or equal to it if the bound is not exclusive. */
function atLeast(budget: Budget, bound: Bound): Automaton {
  if (bound.value < 0 || (bound.value === 0 && !bound.isExclusive)) return everyText
  if (bound.value >= tooLarge) return noText
  const { whole, fraction: digits } = toDigits(bound.value)
  const fraction = digits.slice(0, maxPlaces)
  // A number with up to 12 decimal places reaches a bound with more places only if the number is greater than the bound
  // truncated to 12 places.
  const isExclusive = bound.isExclusive || digits.length > maxPlaces
  const longer = `[1-9]\\d{${whole.length},}(?:\\.\\d+)?`
  const above = greater(whole).map(({ pattern, rest }) => `${pattern}\\d{${rest}}(?:\\.\\d+)?`)
  const more = greater(fraction).map(({ pattern }) => `${whole}\\.${pattern}\\d*`)
  const beyond = `${whole}\\.${fraction}0*[1-9]\\d*`
  const exact = fraction === '' ? `${whole}(?:\\.0*)?` : `${whole}\\.${fraction}0*`
  const ways = [longer, ...above, ...more, beyond, ...(isExclusive ? [] : [exact])]
  return patternAutomaton(budget, `^(?:${ways.join('|')})$`)
}

/**
 * Returns patterns for the first digits of all greater numbers that have the same number of digits. Each pattern is
 * paired with the number of digits that follow it.
 */
function greater(digits: string): { pattern: string; rest: number }[] {
  return Array.from(digits).flatMap((digit, index) =>
    digit === '9'
      ? []
      : [
          {
            pattern: `${digits.slice(0, index)}[${Number(digit) + 1}-9]`,
            rest: digits.length - index - 1,
          },
        ],
  )
}

/** The digits before and after the decimal point. */
function toDigits(value: number): { whole: string; fraction: string } {
  const [digits = '', exponent = '0'] = String(Math.abs(value)).split('e')
  const [whole = '', fraction = ''] = digits.split('.')
  const shift = Number(exponent)
  if (shift >= 0) {
    const all = fraction.padEnd(shift, '0')
    return { whole: whole + all.slice(0, shift), fraction: all.slice(shift) }
  }
  const all = whole.padStart(1 - shift, '0')
  return { whole: all.slice(0, shift), fraction: all.slice(shift) + fraction }
}

/**
 * Whether a number is a multiple of another one. Computed from decimal digits, because a floating-point division would
 * be rounded.
 */
export function isMultiple(value: number, factor: number): boolean {
  const [one, other] = [toDigits(value), toDigits(factor)]
  const places = Math.max(one.fraction.length, other.fraction.length)
  const scaled = ({ whole, fraction }: typeof one) => BigInt(whole + fraction.padEnd(places, '0'))
  return scaled(one) % scaled(other) === 0n
}

/** A state consists of a remainder and the number of digits so far after the decimal point, or -1 before the point. */
function multiplesOf(budget: Budget, factor: number, hasPoint: boolean): Automaton {
  const { whole, fraction } = toDigits(factor)
  const places = fraction.length
  const divisor = BigInt(whole + fraction)
  return build<{ rest: bigint; place: number }>(budget, {
    start: { rest: 0n, place: -1 },
    key: ({ rest, place }) => `${rest},${place}`,
    accepts: ({ rest, place }) =>
      (rest * 10n ** BigInt(places - Math.max(0, place))) % divisor === 0n,
    moves({ rest, place }) {
      // Once the number has as many decimal places as the factor, only zeros may follow.
      const isLast = place === places
      const digits = Array.from({ length: isLast ? 1 : 10 }, (_, digit) => ({
        from: 0x30 + digit,
        to: 0x30 + digit,
        target: isLast
          ? { rest, place }
          : { rest: (rest * 10n + BigInt(digit)) % divisor, place: place < 0 ? -1 : place + 1 },
      }))
      const point = { from: 0x2e, to: 0x2e, target: { rest, place: 0 } }
      return place < 0 && hasPoint ? [point, ...digits] : digits
    },
  })
}
