/** Parses the subset of GBNF that `gbnf.ts` writes. */
export type Chars = { kind: 'chars'; ranges: [number, number][]; isNegated: boolean }
export type Part =
  | Chars
  | { kind: 'rule'; name: string }
  | { kind: 'choice'; ways: Part[][] }
  | { kind: 'repeat'; part: Part; min: number; max: number }
export type Gbnf = Map<string, Part>

/** Parses a grammar. Throws if it is not valid, or if a rule is missing. */
export function parseGbnf(source: string): Gbnf {
  const rules: Gbnf = new Map()
  const used = new Set(['root'])
  for (const line of source.trimEnd().split('\n')) {
    const [, name = '', body = ''] = /^([a-z][a-z0-9-]*) ::= (.*)$/.exec(line) ?? []
    if (name === '' || rules.has(name))
      throw new Error(`invalid or duplicate rule: ${line.slice(0, 200)}`)
    rules.set(name, parseBody(body, used))
  }
  const missing = [...used].find((name) => !rules.has(name))
  if (missing !== undefined) throw new Error(`there is no rule ${missing}`)
  return rules
}

function parseBody(body: string, used: Set<string>): Part {
  let rest = body
  function take(pattern: RegExp): string[] | undefined {
    const found = new RegExp(`^(?:${pattern.source})`, 'u').exec(rest)
    if (found) rest = rest.slice(found[0].length)
    return found ? Array.from(found) : undefined
  }
  function choice(): Part {
    const ways = [sequence()]
    while (take(/ *\| */)) ways.push(sequence())
    return { kind: 'choice', ways }
  }
  function sequence(): Part[] {
    const parts: Part[] = []
    for (;;) {
      take(/ +/)
      const found = item()
      if (found.length === 0) return parts
      const last = found.pop() as Part
      parts.push(...found, repeated(last))
    }
  }
  function repeated(part: Part): Part {
    const [, sign, , min, comma, max] = take(/([?*+])|(\{(\d+)(,(\d*))?\})/) ?? []
    if (sign)
      return { kind: 'repeat', part, min: Number(sign === '+'), max: sign === '?' ? 1 : Infinity }
    if (min === undefined) return part
    const most = comma === undefined ? min : max === undefined ? comma.slice(1) : max
    return { kind: 'repeat', part, min: Number(min), max: most === '' ? Infinity : Number(most) }
  }
  function item(): Part[] {
    const [quoted] = take(/"(?:[^"\\]|\\.)*"/) ?? []
    if (quoted !== undefined) {
      return readChars(quoted.slice(1, -1)).map((code) => ({
        kind: 'chars',
        ranges: [[code, code]],
        isNegated: false,
      }))
    }
    const [set] = take(/\[(?:[^\]\\]|\\.)*\]/) ?? []
    if (set !== undefined) return [charSet(set.slice(1, -1))]
    const [name] = take(/[a-z][a-z0-9-]*/) ?? []
    if (name !== undefined) {
      used.add(name)
      return [{ kind: 'rule', name }]
    }
    if (!take(/\(/)) return []
    const group = choice()
    if (!take(/\)/)) throw new Error(`missing closing parenthesis before ${rest.slice(0, 100)}`)
    return [group]
  }
  const all = choice()
  if (rest !== '') throw new Error(`cannot read ${rest.slice(0, 100)}`)
  return all
}

const unit = /\\x([0-9A-F]{2})|\\u([0-9A-F]{4})|\\U([0-9A-F]{8})|\\([nrt"\\[\]-])|([^\\])/uy
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
  if (!found) throw new Error(`cannot read ${source.slice(index, index + 20)}`)
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
