import { type Chars, type Gbnf, isIn, type Part } from './gbnf-parser.ts'
import { openStacks, type Stack } from './gbnf-stacks.ts'

/** Matches a text against a grammar as the text arrives, to find the shortest text that completes it. */
export type ShortestEnd = {
  /** Matches more text. Returns false if the grammar does not allow the text, or if there are too many stacks. */
  take(text: string): boolean
  /** Returns the shortest text that completes the text so far. */
  find(): string
}

/** The maximum number of stacks. More would delay the model's other requests. */
const maxStacks = 1000

export function shortestEnd(grammar: Gbnf): ShortestEnd {
  const rules = findShortest(grammar)
  const stacks = openStacks(grammar)

  const texts = new Map<Part, string>()
  const ends = new Map<Stack, string>([[undefined, '']])

  /** The shortest text that matches a part. Every rule matches at least one text. */
  function textOf(part: Part): string {
    const text = texts.get(part) ?? shortest(part, rules) ?? ''
    texts.set(part, text)
    return text
  }

  /** The shortest text that completes a stack. */
  function complete(stack: Stack): string {
    const unknown: NonNullable<Stack>[] = []
    for (let rest = stack; rest !== undefined && !ends.has(rest); rest = rest.next) {
      unknown.push(rest)
    }
    for (const one of unknown.reverse()) ends.set(one, textOf(one.part) + ends.get(one.next))
    return ends.get(stack) ?? ''
  }

  return {
    take: (text) => stacks.take(text) && stacks.read().length <= maxStacks,
    find: () => pickShortest(stacks.read().map(complete)) ?? '',
  }
}

/** The shortest text that matches each rule. */
function findShortest(grammar: Gbnf): Map<string, string> {
  const texts = new Map<string, string>()
  for (let hasChanged = true; hasChanged; ) {
    hasChanged = false
    for (const [name, part] of grammar) {
      const text = shortest(part, texts)
      if (text === undefined || text.length >= (texts.get(name)?.length ?? Infinity)) continue
      texts.set(name, text)
      hasChanged = true
    }
  }
  return texts
}

/** The shortest text that matches a part; undefined if `rules` does not contain a rule that the part needs. */
function shortest(part: Part, rules: ReadonlyMap<string, string>): string | undefined {
  switch (part.kind) {
    case 'chars':
      return pick(part)
    case 'rule':
      return rules.get(part.name)
    case 'choice':
      return pickShortest(part.ways.flatMap((way) => shortestSequence(way, rules) ?? []))
    case 'repeat':
      return part.min === 0 ? '' : shortest(part.part, rules)?.repeat(part.min)
  }
}

function shortestSequence(
  parts: readonly Part[],
  rules: ReadonlyMap<string, string>,
): string | undefined {
  let text = ''
  for (const part of parts) {
    const next = shortest(part, rules)
    if (next === undefined) return undefined
    text += next
  }
  return text
}

const pickShortest = (texts: readonly string[]): string | undefined =>
  texts.reduce<string | undefined>(
    (best, text) => (best === undefined || text.length < best.length ? text : best),
    undefined,
  )

/** A character of a class, preferably a common one. */
function pick(chars: Chars): string {
  const common = ['"', '0', 'a', ' '].find((char) => isIn(chars, char.charCodeAt(0)))
  if (common !== undefined) return common
  const codes = chars.ranges.map(([from, to]) => (chars.isNegated ? to + 1 : from))
  return String.fromCodePoint(codes.find((code) => isIn(chars, code)) ?? 0)
}
