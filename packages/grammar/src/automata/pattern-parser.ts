/**
 * Parses regular expressions in the dialect that JSON Schema specifies: ECMAScript with the `u` flag. In addition,
 * accepts unnecessary escapes such as `\@`.
 */
import {
  type CharSet,
  complement,
  digit,
  everyChar,
  intersection,
  notLineEnd,
  property,
  union,
  whiteSpace,
  wordChar,
} from './char-set.ts'

export type Pattern =
  | { kind: 'chars'; set: CharSet }
  | { kind: 'sequence' | 'choice'; parts: readonly Pattern[] }
  | { kind: 'repeat'; part: Pattern; min: number; max: number }
  /** The anchors `^` and `$`. */
  | { kind: 'start' | 'end' }
  | { kind: 'lookahead'; part: Pattern; isNegative: boolean }

/** The error for a regular expression that is invalid or uses an unsupported construct. */
export class PatternError extends Error {
  override name = 'PatternError'
}

const maxLength = 10_000
const maxDepth = 100
const escapes: Record<string, string> = { t: '\t', n: '\n', r: '\r', f: '\f', v: '\v', 0: '\0' }
const classes: Record<string, CharSet> = { d: digit, w: wordChar, s: whiteSpace }

export function parsePattern(source: string): Pattern {
  if (source.length > maxLength) throw new PatternError(`it has more than ${maxLength} characters`)
  const chars = Array.from(source)
  let index = 0
  let depth = 0

  const peek = (text: string) => chars.slice(index, index + text.length).join('') === text
  function skip(text: string): boolean {
    const isNext = peek(text)
    if (isNext) index += text.length
    return isNext
  }
  function next(): string {
    const char = chars[index]
    if (char === undefined) throw new PatternError('it ends too early')
    index += 1
    return char
  }
  const take = (length: number) => Array.from({ length }, next).join('')

  function choice(): Pattern {
    depth += 1
    if (depth > maxDepth)
      throw new PatternError(`its groups are nested more than ${maxDepth} levels deep`)
    const parts = [sequence()]
    while (skip('|')) parts.push(sequence())
    depth -= 1
    return parts.length === 1 ? (parts[0] as Pattern) : { kind: 'choice', parts }
  }

  function sequence(): Pattern {
    const parts: Pattern[] = []
    while (index < chars.length && !peek('|') && !peek(')')) parts.push(term())
    return { kind: 'sequence', parts }
  }

  function term(): Pattern {
    const part = atom()
    const range = quantifier()
    if (range === undefined) return part
    skip('?') // a lazy quantifier matches the same texts as a greedy one
    if (range.max < range.min)
      throw new PatternError('it has a quantifier whose maximum is below its minimum')
    return { kind: 'repeat', part, ...range }
  }

  function quantifier(): { min: number; max: number } | undefined {
    if (skip('*')) return { min: 0, max: Infinity }
    if (skip('+')) return { min: 1, max: Infinity }
    if (skip('?')) return { min: 0, max: 1 }
    const found = /^\{(\d+)(,(\d*))?\}/.exec(chars.slice(index, index + 30).join(''))
    if (found === null) return undefined
    index += found[0].length
    const [, min, comma, max] = found
    if (comma === undefined) return { min: Number(min), max: Number(min) }
    return { min: Number(min), max: max === '' ? Infinity : Number(max) }
  }

  function atom(): Pattern {
    if (skip('(')) return group()
    if (skip('[')) return { kind: 'chars', set: charClass() }
    if (skip('^')) return { kind: 'start' }
    if (skip('$')) return { kind: 'end' }
    if (skip('.')) return { kind: 'chars', set: notLineEnd }
    if (skip('\\')) return { kind: 'chars', set: escaped(false) }
    if (['*', '+', '?'].some(peek))
      throw new PatternError('it has a quantifier with nothing to repeat')
    return { kind: 'chars', set: only(next()) }
  }

  function group(): Pattern {
    if (skip('?=')) return { kind: 'lookahead', part: groupEnd(), isNegative: false }
    if (skip('?!')) return { kind: 'lookahead', part: groupEnd(), isNegative: true }
    if (skip('?<=') || skip('?<!')) throw new PatternError('it has a lookbehind')
    if (skip('?<')) index = endOf('>')
    else if (!skip('?:') && peek('?')) throw new PatternError('it has a group with flags')
    return groupEnd()
  }

  function groupEnd(): Pattern {
    const part = choice()
    if (!skip(')')) throw new PatternError('it has an unclosed group')
    return part
  }

  /** The index after the next occurrence of this character. Throws if there is none. */
  function endOf(char: string): number {
    const end = chars.indexOf(char, index)
    if (end === -1) throw new PatternError(`it has a construct whose closing ${char} is missing`)
    return end + 1
  }

  function charClass(): CharSet {
    const isNegated = skip('^')
    const sets: CharSet[] = []
    while (!skip(']')) {
      const from = classAtom()
      const isRange = peek('-') && chars[index + 1] !== ']'
      if (isRange) index += 1
      sets.push(isRange ? rangeOf(from, classAtom()) : from)
    }
    const set = union(sets.flat())
    return isNegated ? complement(set) : set
  }

  const classAtom = () => (skip('\\') ? escaped(true) : only(next()))

  function escaped(isInClass: boolean): CharSet {
    const char = next()
    const lower = char.toLowerCase()
    if (Object.hasOwn(classes, lower)) {
      const set = classes[lower] as CharSet
      return char === lower ? set : complement(set)
    }
    if (lower === 'p') return propertyOf(char)
    if (char === 'b' && isInClass) return only('\b')
    if (lower === 'b') throw new PatternError(`it has a word boundary (\\${char})`)
    if (/[1-9k]/.test(char)) throw new PatternError('it has a backreference')
    if (char === 'x') return only(codePoint(take(2)))
    if (char === 'u') return only(unicode())
    if (char === 'c') return only(String.fromCodePoint(next().charCodeAt(0) % 32))
    if (Object.hasOwn(escapes, char)) return only(escapes[char] as string)
    if (/[a-zA-Z]/.test(char)) throw new PatternError(`it has the unknown escape \\${char}`)
    return only(char)
  }

  function propertyOf(char: string): CharSet {
    if (!skip('{')) throw new PatternError(`it has \\${char} without a property`)
    const end = endOf('}')
    const name = chars.slice(index, end - 1).join('')
    index = end
    const set = property(name)
    if (set) return char === 'p' ? set : complement(set)
    throw new PatternError(`it has the unknown property \\${char}{${name.slice(0, 60)}}`)
  }

  function unicode(): string {
    if (skip('{')) {
      const end = endOf('}')
      const digits = chars.slice(index, end - 1).join('')
      index = end
      return codePoint(digits)
    }
    const high = codePoint(take(4))
    const isPair = /[\ud800-\udbff]/.test(high) && skip('\\u')
    return isPair ? high + codePoint(take(4)) : high
  }

  const pattern = choice()
  if (index < chars.length) throw new PatternError('it has an unmatched closing parenthesis')
  return pattern
}

function codePoint(digits: string): string {
  const code = /^[0-9a-fA-F]{1,8}$/.test(digits) ? Number.parseInt(digits, 16) : Infinity
  if (code > 0x10ffff) throw new PatternError('it has an invalid code point')
  return String.fromCodePoint(code)
}

/** The set of one character. For a lone surrogate, the set is empty, because no generated text contains one. */
function only(char: string): CharSet {
  const code = char.codePointAt(0) as number
  return intersection([[code, code]], everyChar)
}

function rangeOf(first: CharSet, last: CharSet): CharSet {
  const [from, to] = [first, last].map((set) => {
    const [range] = set
    if (set.length === 1 && range && range[0] === range[1]) return range[0]
    throw new PatternError('it has an invalid range of characters')
  }) as [number, number]
  if (to < from) throw new PatternError('it has a range of characters in the wrong order')
  return intersection([[from, to]], everyChar)
}
