import { SchemaError } from '../schema/schema-error.ts'
import { type Chars, type Gbnf, isIn, type Part, parseGbnf } from './gbnf-parser.ts'
import { openStacks, type Stack } from './gbnf-stacks.ts'

/**
 * Checks a grammar in GBNF from a client. Throws a `SchemaError` with the reason if llama.cpp would refuse it, or would
 * need too much time or memory for it. `maxWays` is the maximum number of ways to match a text.
 */
export function checkGrammar(source: string, maxWays = usualMaxWays) {
  const grammar = parseGbnf(source)
  refuseLeftRecursion(grammar)
  refuseAmbiguity(grammar, maxWays)
}

/** A rule that begins with itself would be expanded endlessly. */
function refuseLeftRecursion(grammar: Gbnf) {
  const mayBeEmpty = new Set<string>()
  const isOptional = (part: Part): boolean => {
    if (part.kind === 'rule') return mayBeEmpty.has(part.name)
    if (part.kind === 'choice') return part.ways.some((way) => way.every(isOptional))
    return part.kind === 'repeat' && (part.min === 0 || isOptional(part.part))
  }
  for (let before = -1; before < mayBeEmpty.size; ) {
    before = mayBeEmpty.size
    for (const [name, part] of grammar) if (isOptional(part)) mayBeEmpty.add(name)
  }

  /** The rules with which a part may begin. */
  function firstOf(part: Part): string[] {
    if (part.kind === 'rule') return [part.name]
    if (part.kind === 'repeat') return firstOf(part.part)
    if (part.kind === 'chars') return []
    return part.ways.flatMap((way) => {
      const end = way.findIndex((one) => !isOptional(one))
      return way.slice(0, end === -1 ? way.length : end + 1).flatMap(firstOf)
    })
  }
  const firsts = new Map(Array.from(grammar, ([name, part]) => [name, new Set(firstOf(part))]))
  /** Removes rules that begin with no other rule until only those remain that can begin with themselves. */
  for (let before = Infinity; firsts.size < before; ) {
    before = firsts.size
    for (const [name, others] of firsts) {
      if (![...others].some((other) => firsts.has(other))) firsts.delete(name)
    }
  }
  const [name] = firsts.keys()
  if (name !== undefined) throw new SchemaError(`the rule ${name} begins with itself`)
}

/** llama.cpp follows all ways to match a text at the same time. With more than this, each token would take seconds. */
const usualMaxWays = 1000
const checkedLength = 200
const triesPerChar = 16

/** Follows a text that the grammar can match in many ways. In some grammars, their number grows exponentially. */
function refuseAmbiguity(grammar: Gbnf, maxWays: number) {
  const stacks = openStacks(grammar)
  for (let length = 0; length < checkedLength; length += 1) {
    const ways = stacks.read()
    if (ways.length > maxWays) {
      throw new SchemaError(`it matches the same text in more than ${maxWays} ways`)
    }
    const next = busiestChar(ways, length)
    if (next === undefined) return
    stacks.take(String.fromCodePoint(next))
  }
}

/** The character, of a few, with which the most ways continue; undefined if the text can only end. */
function busiestChar(ways: readonly Stack[], turn: number): number | undefined {
  const classes = ways.flatMap((stack) => (stack?.part.kind === 'chars' ? stack.part : []))
  const step = Math.max(1, Math.floor(classes.length / triesPerChar))
  const codes = classes.filter((_, index) => index % step === 0).map((one) => pick(one, turn))
  const count = (code: number) => classes.filter((one) => isIn(one, code)).length
  return codes.toSorted((a, b) => count(b) - count(a))[0]
}

/** A character of a class. It depends on the turn, so that not all texts consist of the same character. */
function pick(chars: Chars, turn: number): number {
  const common = Array.from('a b"1\n', (char) => char.codePointAt(0) ?? 0)
  const allowed = common.filter((code) => isIn(chars, code))
  if (allowed.length > 0) return allowed[turn % allowed.length] as number
  const edges = chars.ranges.flatMap(([from, to]) => (chars.isNegated ? [to + 1] : [from, to]))
  return edges.find((code) => isIn(chars, code)) ?? 0
}
