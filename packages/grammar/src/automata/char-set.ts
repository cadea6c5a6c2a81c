/**
 * Sets of Unicode code points. A set is a sorted list of ranges that do not touch each other. Surrogates are in no set.
 */
export type CharSet = readonly Range[]
/** A range of code points, including both ends. */
export type Range = readonly [from: number, to: number]

const lastChar = 0x10ffff
export const everyChar: CharSet = [
  [0, 0xd7ff],
  [0xe000, lastChar],
]

/** Sorts ranges and joins those that overlap or touch. */
export function union(ranges: readonly Range[]): CharSet {
  const joined: [number, number][] = []
  for (const [from, to] of ranges.toSorted(([a], [b]) => a - b)) {
    const last = joined.at(-1)
    if (last && from <= last[1] + 1) last[1] = Math.max(last[1], to)
    else joined.push([from, to])
  }
  return joined
}

export function intersection(a: CharSet, b: CharSet): CharSet {
  const shared: Range[] = []
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const [one, other] = [a[i] as Range, b[j] as Range]
    const [from, to] = [Math.max(one[0], other[0]), Math.min(one[1], other[1])]
    if (from <= to) shared.push([from, to])
    if (one[1] < other[1]) i += 1
    else j += 1
  }
  return shared
}

export function complement(set: CharSet): CharSet {
  const gaps: Range[] = []
  let next = 0
  for (const [from, to] of set) {
    if (from > next) gaps.push([next, from - 1])
    next = to + 1
  }
  if (next <= lastChar) gaps.push([next, lastChar])
  return intersection(gaps, everyChar)
}

export const charsOf = (text: string): CharSet =>
  union(
    Array.from(text, (char) => {
      const code = char.codePointAt(0) as number
      return [code, code]
    }),
  )

export const digit: CharSet = [[0x30, 0x39]]
/** The sets of `\w`, `\s` and `.` in regular expressions. */
export const wordChar = union([...digit, [0x41, 0x5a], [0x5f, 0x5f], [0x61, 0x7a]])
export const whiteSpace = union([
  ...charsOf('\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff'),
  [0x2000, 0x200a],
])
export const notLineEnd = complement(charsOf('\n\r\u2028\u2029'))

const properties = new Map<string, CharSet>()
let everyCharText = ''

/** The characters that match `\p{…}`; undefined if there is no such property. Takes about 20 ms the first time. */
export function property(name: string): CharSet | undefined {
  if (!/^[A-Za-z0-9_=]{1,60}$/.test(name)) return undefined
  const known = properties.get(name)
  if (known) return known
  const pattern = propertyPattern(name)
  if (pattern === undefined) return undefined
  everyCharText ||= everyChar.map(textOf).join('')
  const runs = Array.from(everyCharText.matchAll(pattern), ([run]) => rangeOf(run))
  const set = intersection(runs, everyChar)
  properties.set(name, set)
  return set
}

function propertyPattern(name: string): RegExp | undefined {
  try {
    return new RegExp(`\\p{${name}}+`, 'gu')
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function textOf([from, to]: Range): string {
  let text = ''
  for (let char = from; char <= to; char += 1) text += String.fromCodePoint(char)
  return text
}

/** Returns the first and the last character of a string. */
function rangeOf(text: string): Range {
  const last = text.codePointAt(text.length - 2) ?? 0
  return [
    text.codePointAt(0) as number,
    last > 0xffff ? last : (text.codePointAt(text.length - 1) as number),
  ]
}
