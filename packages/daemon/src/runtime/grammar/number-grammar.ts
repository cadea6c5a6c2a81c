/** Grammars for numbers between two bounds. */

export type Bounds = {
  min: number | undefined
  max: number | undefined
  /** Whether the bound itself is excluded. */
  isMinExclusive: boolean
  isMaxExclusive: boolean
}

const digits = '[0-9]{0,15}'
const fraction = '("." [0-9]{1,16})?'
/** Whether a bound is treated as absent. Libraries use bounds of this size to express “any integer”. */
const isFarOut = (bound: number | undefined) =>
  bound === undefined || Math.abs(bound) >= Number.MAX_SAFE_INTEGER

/** Returns undefined if no grammar can enforce these bounds. */
export function integerGrammar(bounds: Bounds): string | undefined {
  const min = isFarOut(bounds.min) ? undefined : Math.ceil(Number(bounds.min))
  const max = isFarOut(bounds.max) ? undefined : Math.floor(Number(bounds.max))
  const isOut = (bound: number | undefined, original: number | undefined, out: boolean) =>
    out && bound !== undefined && bound === original
  const from = isOut(min, bounds.min, bounds.isMinExclusive) ? Number(min) + 1 : min
  const to = isOut(max, bounds.max, bounds.isMaxExclusive) ? Number(max) - 1 : max
  return signed(from, to, whole)
}

/** Returns undefined if no grammar can enforce these bounds, for example if they are not whole numbers. */
export function numberGrammar({
  min,
  max,
  isMinExclusive,
  isMaxExclusive,
}: Bounds): string | undefined {
  const from = isFarOut(min) ? undefined : min
  const to = isFarOut(max) ? undefined : max
  const exponent = '([eE] [-+]? [0-9]{1,3})?'
  if (from === undefined && to === undefined) return `"-"? ${whole(0)} ${fraction} ${exponent}`
  if (![from ?? 0, to ?? 0].every(Number.isInteger)) return undefined
  if (isMaxExclusive && Number(to) <= 0) return undefined
  if (!isMinExclusive) return signed(from, to, (a, b) => fractional(a, b, isMaxExclusive))
  if (from !== 0) return undefined
  const small = `"0." ${digits} [1-9]`
  if (to === undefined) return `(${small} | ${fractional(1)})`
  if (to === 1) return isMaxExclusive ? `(${small})` : `(${small} | "1")`
  return to > 1 ? `(${small} | ${fractional(1, to, isMaxExclusive)})` : undefined
}

type Positive = (from: number, to?: number) => string

/** Combines a grammar for the negative part of a range with one for the rest. */
function signed(from: number | undefined, to: number | undefined, positive: Positive) {
  if (from !== undefined && to !== undefined && from > to) return undefined
  const parts: string[] = []
  if (from === undefined || from < 0) {
    const nearest = to !== undefined && to < 0 ? -to : 1
    parts.push(`"-" ${positive(nearest, from === undefined ? undefined : -from)}`)
  }
  if (to === undefined || to >= 0) parts.push(positive(Math.max(0, from ?? 0), to))
  return `(${parts.join(' | ')})`
}

/** Decimal numbers from `from` to `to`. The number `to` itself has no fraction. */
function fractional(from: number, to?: number, isMaxExclusive = false): string {
  if (to === undefined) return `${whole(from)} ${fraction}`
  const last = isMaxExclusive ? [] : [`"${to}"`]
  const others = to > from ? [`${whole(from, to - 1)} ${fraction}`] : []
  return `(${[...others, ...last].join(' | ')})`
}

/** Non-negative whole numbers. */
function whole(from: number, to?: number): string {
  if (to !== undefined) return `(${ranges(from, to).join(' | ')})`
  if (from === 0) return `("0" | [1-9] ${digits})`
  if (from === 1) return `[1-9] ${digits}`
  const length = String(from).length
  if (length > 15) return whole(from, Number.MAX_SAFE_INTEGER)
  const longer = `[1-9] [0-9]{${length},15}`
  return `(${[...ranges(from, 10 ** length - 1), longer].join(' | ')})`
}

/** Splits a range into ranges of numbers with the same number of digits. Each of these is one alternative. */
function ranges(from: number, to: number): string[] {
  const parts: string[] = []
  const last = BigInt(to) // a number cannot represent 16 nines exactly
  for (let low = BigInt(from); low <= last; ) {
    const longest = 10n ** BigInt(String(low).length) - 1n
    const high = longest < last ? longest : last
    parts.push(sameLength(String(low), String(high)))
    low = high + 1n
  }
  return parts
}

function sameLength(low: string, high: string): string {
  if (low === '') return ''
  const [lowest = '', highest = ''] = [low[0], high[0]]
  const [lowRest, highRest] = [low.slice(1), high.slice(1)]
  const rest = low.length - 1
  const isWhole = /^0*$/.test(lowRest) && /^9*$/.test(highRest)
  if (isWhole) return `[${lowest}-${highest}]${rest > 0 ? ` [0-9]{${rest}}` : ''}`
  if (lowest === highest) return `"${lowest}" (${sameLength(lowRest, highRest)})`
  const parts = [`"${lowest}" (${sameLength(lowRest, '9'.repeat(rest))})`]
  if (Number(highest) - Number(lowest) > 1) {
    parts.push(`[${Number(lowest) + 1}-${Number(highest) - 1}] [0-9]{${rest}}`)
  }
  parts.push(`"${highest}" (${sameLength('0'.repeat(rest), highRest)})`)
  return `(${parts.join(' | ')})`
}
