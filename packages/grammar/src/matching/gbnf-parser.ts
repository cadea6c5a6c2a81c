/**
 * Parses GBNF, llama.cpp's grammar format (https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md), except
 * for references to tokens.
 */
import { SchemaError } from '../schema/schema-error.ts'

export type Chars = { kind: 'chars'; ranges: [number, number][]; isNegated: boolean }
export type Part =
  | Chars
  | { kind: 'rule'; name: string }
  | { kind: 'choice'; ways: Part[][] }
  | { kind: 'repeat'; part: Part; min: number; max: number }
export type Gbnf = Map<string, Part>

/** llama.cpp reads groups recursively, and crashes at tens of thousands of levels. */
const maxNesting = 200
/** llama.cpp refuses more repetitions. */
const maxRepetitions = 2000

/** Spaces and comments. Line breaks are allowed only within a rule: in parentheses, and after `::=` and `|`. */
const space = /(?:[ \t]|#[^\n]*)*/y
const spaceAndBreaks = /(?:[ \t\r\n]|#[^\n]*)*/y
const lineBreak = /\r?\n|$/y
const head = /([a-zA-Z0-9-]+)[ \t]*::=/y
const bar = /\|/y
const literal = /"((?:[^"\\\n]|\\.)*)"/y
const charClass = /\[((?:[^\]\\]|\\.)*)\]/y
const anyChar = /\./y
const reference = /[a-zA-Z0-9-]+/y
const opening = /\(/y
const closing = /\)/y
const sign = /[?*+]/y
const bounds = /\{[ \t]*(\d+)[ \t]*(,[ \t]*(\d*))?[ \t]*\}/y

/** Parses a grammar. Throws a `SchemaError` with the reason if it is not valid. */
export function parseGbnf(source: string): Gbnf {
  const rules: Gbnf = new Map()
  const used = new Set(['root'])
  let at = 0
  let depth = 0

  function take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = at
    const found = pattern.exec(source)
    if (found) at = pattern.lastIndex
    return found
  }

  function fail(what: string): never {
    const line = source.slice(0, at).split('\n').length
    const rest = JSON.stringify(source.slice(at, at + 20))
    throw new SchemaError(`line ${line}: ${what} before ${rest}`)
  }

  function choice(): Part {
    const ways = [sequence()]
    while (take(bar)) {
      take(spaceAndBreaks)
      ways.push(sequence())
    }
    return { kind: 'choice', ways }
  }

  function sequence(): Part[] {
    const parts: Part[] = []
    for (;;) {
      const found = item()
      if (!found) return parts
      const last = found.pop()
      parts.push(...found, ...(last ? [repeated(last)] : []))
      take(depth > 0 ? spaceAndBreaks : space)
    }
  }

  function repeated(part: Part): Part {
    const [symbol] = take(sign) ?? []
    if (symbol) {
      const max = symbol === '?' ? 1 : Infinity
      return repeated({ kind: 'repeat', part, min: Number(symbol === '+'), max })
    }
    const [, min, comma, end] = take(bounds) ?? []
    if (min === undefined) return part
    const max = comma === undefined ? Number(min) : end ? Number(end) : Infinity
    if (Math.max(Number(min), max === Infinity ? 0 : max) > maxRepetitions)
      fail(`more than ${maxRepetitions} repetitions`)
    return repeated({ kind: 'repeat', part, min: Number(min), max })
  }

  /** The characters of a literal, or one other part; undefined at the end of a sequence. */
  function item(): Part[] | undefined {
    const [, quoted] = take(literal) ?? []
    if (quoted !== undefined) {
      return readChars(quoted).map((code) => ({
        kind: 'chars',
        ranges: [[code, code]],
        isNegated: false,
      }))
    }
    const [, set] = take(charClass) ?? []
    if (set !== undefined) return [charSet(set)]
    if (take(anyChar)) return [{ kind: 'chars', ranges: [], isNegated: true }]
    const [name] = take(reference) ?? []
    if (name !== undefined) {
      used.add(name)
      return [{ kind: 'rule', name }]
    }
    if (!take(opening)) return undefined
    depth += 1
    if (depth > maxNesting) fail(`groups are nested more than ${maxNesting} levels deep`)
    take(spaceAndBreaks)
    const group = choice()
    if (!take(closing)) fail('a closing parenthesis is missing')
    depth -= 1
    return [group]
  }

  for (take(spaceAndBreaks); at < source.length; take(spaceAndBreaks)) {
    const name = take(head)?.[1] ?? fail('a rule must begin with its name and ::=')
    take(spaceAndBreaks)
    if (rules.has(name)) fail(`there are two rules ${name}`)
    rules.set(name, choice())
    if (!take(lineBreak)) fail('the rule does not end')
  }
  const missing = [...used].find((name) => !rules.has(name))
  if (missing !== undefined) throw new SchemaError(`there is no rule ${missing}`)
  return rules
}

const unit =
  /\\x([0-9A-Fa-f]{2})|\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})|\\([nrt"\\[\]-])|([^\\])/uy
const named: Record<string, string> = { n: '\n', r: '\r', t: '\t' }

function readChars(source: string): number[] {
  const codes: number[] = []
  for (let index = 0; index < source.length; ) {
    const { code, end } = readChar(source, index)
    codes.push(code)
    index = end
  }
  return codes
}

function readChar(source: string, index: number): { code: number; end: number } {
  unit.lastIndex = index
  const found = unit.exec(source)
  if (!found) throw new SchemaError(`unknown escape ${source.slice(index, index + 10)}`)
  const [, two, four, eight, escaped, plain] = found
  const hex = two ?? four ?? eight
  const char = escaped === undefined ? plain : (named[escaped] ?? escaped)
  const code = hex === undefined ? (char?.codePointAt(0) as number) : Number.parseInt(hex, 16)
  return { code, end: unit.lastIndex }
}

function charSet(source: string): Part {
  const isNegated = source.startsWith('^')
  const ranges: [number, number][] = []
  for (let index = isNegated ? 1 : 0; index < source.length; ) {
    const first = readChar(source, index)
    const isRange = source[first.end] === '-' && first.end + 1 < source.length
    const last = isRange ? readChar(source, first.end + 1) : first
    ranges.push([first.code, last.code])
    index = last.end
  }
  return { kind: 'chars', ranges, isNegated }
}

/** Whether a character, given by its code point, is in the class. */
export const isIn = ({ ranges, isNegated }: Chars, code: number): boolean =>
  ranges.some(([from, to]) => from <= code && code <= to) !== isNegated
