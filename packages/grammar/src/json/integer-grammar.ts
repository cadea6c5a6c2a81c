/** Grammars for integers within a range. They are shorter than grammars made from automata, and are created faster. */
import { chars, choice, type Node, nothing, repeat, sequence, text } from '../gbnf/node.ts'

/**
 * The number of digits of the largest integers. If no bound is given, integers are limited to less than 9 × 10¹⁵,
 * because JavaScript cannot represent all larger ones exactly. Bounds equal to the limits of safe integers are ignored,
 * because libraries use them to mean “any integer”.
 */
const longest = 16

/** A grammar for the integers from `min` to `max`, inclusive. The bounds may be infinite. */
export function integerGrammar(min: number, max: number): Node {
  const [from, to] = [Math.max(min, -safe), Math.min(max, safe)]
  if (from > to) return nothing
  const parts: Node[] = []
  if (from < 0) parts.push(sequence(text('-'), positive(to < 0 ? -to : 1, -from)))
  if (to >= 0) parts.push(positive(Math.max(0, from), to))
  return choice(...parts)
}

const safe = Number.MAX_SAFE_INTEGER

const digits = (from: string, to: string): Node =>
  from === to ? text(from) : chars([[from.charCodeAt(0), to.charCodeAt(0)]])
const anyDigits = (min: number, max = min): Node => repeat(digits('0', '9'), min, max)

/** The integers from `from` to `to`, neither of which is negative. */
function positive(from: number, to: number): Node {
  const { length } = String(Math.max(1, from))
  if (to < safe || length === longest) return choice(...ranges(from, to))
  const isRound = /^10*$/.test(String(from))
  const shorter = isRound ? [] : ranges(from, 10 ** length - 1)
  const rest = isRound ? length - 1 : length
  const longer = sequence(digits('1', '9'), anyDigits(rest, longest - 2))
  const last = sequence(digits('1', '8'), anyDigits(longest - 1))
  return choice(...shorter, ...(rest > longest - 2 ? [] : [longer]), last)
}

/** Splits a range into ranges of numbers with the same number of digits. Each of these is one alternative. */
function ranges(from: number, to: number): Node[] {
  const parts: Node[] = []
  const last = BigInt(to)
  for (let low = BigInt(from); low <= last; ) {
    const highest = 10n ** BigInt(String(low).length) - 1n
    const high = highest < last ? highest : last
    parts.push(sameLength(String(low), String(high)))
    low = high + 1n
  }
  return parts
}

function sameLength(low: string, high: string): Node {
  const [lowest = '', highest = ''] = [low[0], high[0]]
  const [lowRest, highRest] = [low.slice(1), high.slice(1)]
  const rest = low.length - 1
  const isWhole = /^0*$/.test(lowRest) && /^9*$/.test(highRest)
  if (isWhole) return sequence(digits(lowest, highest), anyDigits(rest))
  if (lowest === highest) return sequence(text(lowest), sameLength(lowRest, highRest))
  const parts = [sequence(text(lowest), sameLength(lowRest, '9'.repeat(rest)))]
  if (Number(highest) - Number(lowest) > 1) {
    const between = digits(String(Number(lowest) + 1), String(Number(highest) - 1))
    parts.push(sequence(between, anyDigits(rest)))
  }
  parts.push(sequence(text(highest), sameLength('0'.repeat(rest), highRest)))
  return choice(...parts)
}
