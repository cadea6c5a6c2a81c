/**
 * Parses the subset of GBNF that `runtime/grammar` writes, generates texts from a grammar, and checks whether a grammar
 * matches a text. This is much faster than a model, and finds rare texts.
 */
type Part =
  | { kind: 'chars'; ranges: [number, number][]; isNegated: boolean }
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

/** Returns numbers from 0 to 1, always the same for the same seed (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/**
 * Returns a function that generates random texts. Beyond a certain depth or length, the function chooses the
 * alternatives that end soonest.
 */
export function textGenerator(grammar: Gbnf, random: () => number): () => string {
  const heights = measure(grammar)
  const maxDepth = 60
  const maxLength = 5000
  let length = 0
  const pick = (count: number) => Math.floor(random() * count)
  const heightOf = (way: readonly Part[]) =>
    Math.max(0, ...way.map((part) => height(part, heights)))

  const isEnding = (depth: number) => depth > maxDepth || length > maxLength

  function write(part: Part, depth: number): string {
    switch (part.kind) {
      case 'chars':
        length += 1
        return String.fromCodePoint(pickChar(part, random))
      case 'rule':
        return write(grammar.get(part.name) as Part, depth + 1)
      case 'choice': {
        const lowest = Math.min(...part.ways.map(heightOf))
        const ways = part.ways.filter((way) =>
          isEnding(depth) ? heightOf(way) === lowest : heightOf(way) < Infinity,
        )
        return (ways[pick(ways.length)] as Part[]).map((one) => write(one, depth + 1)).join('')
      }
      case 'repeat': {
        const isPossible = height(part.part, heights) < Infinity && !isEnding(depth)
        const more = isPossible ? Math.min(part.max - part.min, random() < 0.1 ? 40 : 4) : 0
        const count = part.min + pick(more + 1)
        return Array.from({ length: count }, () => write(part.part, depth + 1)).join('')
      }
    }
  }
  return () => {
    length = 0
    return write({ kind: 'rule', name: 'root' }, 0)
  }
}

/** For each rule, the minimum depth of nested rules in a text that matches it. */
function measure(grammar: Gbnf): Map<string, number> {
  const heights = new Map<string, number>()
  for (let hasChanged = true; hasChanged; ) {
    hasChanged = false
    for (const [name, part] of grammar) {
      const own = 1 + height(part, heights)
      if (own < (heights.get(name) ?? Infinity)) {
        heights.set(name, own)
        hasChanged = true
      }
    }
  }
  return heights
}

function height(part: Part, heights: ReadonlyMap<string, number>): number {
  switch (part.kind) {
    case 'chars':
      return 0
    case 'rule':
      return heights.get(part.name) ?? Infinity
    case 'choice':
      return Math.min(
        ...part.ways.map((way) => Math.max(0, ...way.map((one) => height(one, heights)))),
      )
    case 'repeat':
      return part.min === 0 ? 0 : height(part.part, heights)
  }
}

const isIn = ({ ranges, isNegated }: Part & { kind: 'chars' }, code: number) =>
  ranges.some(([from, to]) => from <= code && code <= to) !== isNegated

function pickChar(part: Part & { kind: 'chars' }, random: () => number): number {
  const { ranges, isNegated } = part
  const from = (all: readonly (readonly [number, number])[]) => {
    const [low, high] = all[Math.floor(random() * all.length)] as readonly [number, number]
    return low + Math.floor(random() * (high - low + 1))
  }
  const usual = [
    [0x20, 0x7e],
    [0x20, 0x7e],
    [0xa0, 0x17f],
    [0x4e00, 0x9fff],
    [0x1f300, 0x1f64f],
  ] as const
  for (let tries = 0; isNegated && tries < 1000; tries += 1) {
    const code = from(usual)
    if (isIn(part, code)) return code
  }
  if (isNegated) throw new Error('a negated class without usual characters')
  return from(ranges)
}

/** The parts that are still to match. Equal stacks have equal keys. */
type Stack = { part: Part; next: Stack; key: string } | undefined

/** Whether the grammar allows the text. As in llama.cpp, all possible stacks are kept. */
export function matchesGbnf(grammar: Gbnf, text: string): boolean {
  const push = stackMaker()
  let stacks = expand(grammar, [push({ kind: 'rule', name: 'root' }, undefined)], push)
  for (const char of text) {
    const code = char.codePointAt(0) as number
    const after = stacks.flatMap((stack) =>
      stack?.part.kind === 'chars' && isIn(stack.part, code) ? [stack.next] : [],
    )
    stacks = expand(grammar, after, push)
    if (stacks.length === 0) return false
  }
  return stacks.includes(undefined)
}

type Push = (part: Part, next: Stack) => Stack

function stackMaker(): Push {
  const numbers = new Map<Part, number>()
  const keyOf = (part: Part): string => {
    if (part.kind === 'repeat') return `${keyOf(part.part)}{${part.min},${part.max}}`
    if (part.kind === 'rule') return part.name
    const number = numbers.get(part) ?? numbers.size
    numbers.set(part, number)
    return String(number)
  }
  return (part, next) => ({ part, next, key: `${keyOf(part)} ${next?.key ?? ''}` })
}

/** Expands each stack until its first part is a set of characters. `undefined` means that the text may end. */
function expand(grammar: Gbnf, stacks: readonly Stack[], push: Push): Stack[] {
  const seen = new Set<string>()
  const ready: Stack[] = []
  const waiting = [...stacks]
  while (waiting.length > 0) {
    const stack = waiting.pop()
    const key = stack?.key ?? ''
    if (seen.has(key)) continue
    seen.add(key)
    if (stack === undefined || stack.part.kind === 'chars') ready.push(stack)
    else waiting.push(...open(grammar, stack.part, stack.next, push))
  }
  return ready
}

function open(grammar: Gbnf, part: Part, next: Stack, push: Push): Stack[] {
  switch (part.kind) {
    case 'chars':
      return []
    case 'rule':
      return [push(grammar.get(part.name) as Part, next)]
    case 'choice':
      return part.ways.map((way) => way.reduceRight<Stack>((rest, one) => push(one, rest), next))
    case 'repeat': {
      const { min, max } = part
      const rest = max > 1 ? push({ ...part, min: Math.max(0, min - 1), max: max - 1 }, next) : next
      return [...(min === 0 ? [next] : []), push(part.part, rest)]
    }
  }
}
