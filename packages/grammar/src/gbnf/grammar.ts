/** Builds grammars in GBNF, llama.cpp's grammar format. */

import { type CharSet, complement } from '../automata/char-set.ts'
import { SchemaError } from '../schema/schema-error.ts'
import { hasTooManyAlternatives, maxAlternatives } from './alternatives.ts'
import { choice, empty, type Node, repeat, rule, sequence } from './node.ts'

/** The maximum number of characters. llama.cpp parses a grammar of this length in less than a second. */
const maxLength = 2_000_000
const maxRules = 20_000

export type Grammar = {
  /** Adds a rule, and returns a reference to it. */
  add: (kind: string, body: Node) => Node
  /** Returns a reference to a rule whose body is set later, so that the body can refer to the rule. */
  reserve: (kind: string) => ReservedRule
  /** Returns the grammar as text; undefined if nothing matches it. */
  print: (root: Node) => string | undefined
}
export type ReservedRule = { node: Node; set: (body: Node) => void }

/** Creates a grammar to which rules can be added. The rules in `basics` become part of it only if they are used. */
export function createGrammar(basics: Record<string, Node>): Grammar {
  const rules = new Map(Object.entries(basics))
  let count = 0

  function reserve(kind: string): ReservedRule {
    const name = `${kind}-${count}`
    count += 1
    if (count > maxRules) throw new SchemaError('it is too large')
    return { node: rule(name), set: (body) => rules.set(name, body) }
  }

  return {
    reserve,
    add(kind, body) {
      const { node, set } = reserve(kind)
      set(body)
      return node
    },
    print: (root) => print(new Map([['root', root], ...rules])),
  }
}

function print(rules: ReadonlyMap<string, Node>): string | undefined {
  const possible = findPossible(rules)
  if (!possible.has('root')) return undefined
  const used = reach(rules, possible)
  if (hasTooManyAlternatives(used)) {
    throw new SchemaError(`it has more than ${maxAlternatives} alternatives in one place`)
  }
  let grammar = ''
  for (const [name, body] of used) {
    grammar += `${name} ::= ${printNode(body) || '""'}\n`
    if (grammar.length > maxLength) throw new SchemaError('it is too large')
  }
  return grammar
}

/** Returns the names of the rules that match at least one string. A rule that always contains itself matches none. */
function findPossible(rules: ReadonlyMap<string, Node>): Set<string> {
  const possible = new Set<string>()
  let waiting = [...rules]
  for (let before = Infinity; waiting.length < before; ) {
    before = waiting.length
    // In most grammars, each rule comes either after the rules that it refers to or before them, so both directions are
    // tried in turn.
    waiting = waiting.reverse().filter(([name, body]) => {
      if (!isPossible(body, possible)) return true
      possible.add(name)
      return false
    })
  }
  return possible
}

function isPossible(node: Node, possible: ReadonlySet<string>): boolean {
  switch (node.kind) {
    case 'text':
      return true
    case 'chars':
      return node.set.length > 0
    case 'rule':
      return possible.has(node.name)
    case 'sequence':
      return node.parts.every((part) => isPossible(part, possible))
    case 'choice':
      return node.parts.some((part) => isPossible(part, possible))
    case 'repeat':
      return node.min === 0 || isPossible(node.part, possible)
  }
}

/** Returns the rules that are used, without the parts that match nothing. Always includes `space`. */
function reach(rules: ReadonlyMap<string, Node>, possible: ReadonlySet<string>): Map<string, Node> {
  const found = new Map<string, Node>()
  const names = new Set(['root', 'space'])
  for (const name of names) {
    const body = prune(rules.get(name) ?? empty, possible)
    found.set(name, body)
    collect(body, names)
  }
  return found
}

function prune(node: Node, possible: ReadonlySet<string>): Node {
  switch (node.kind) {
    case 'sequence':
      return sequence(...node.parts.map((part) => prune(part, possible)))
    case 'choice': {
      const parts = node.parts.filter((part) => isPossible(part, possible))
      return choice(...parts.map((part) => prune(part, possible)))
    }
    case 'repeat':
      if (!isPossible(node.part, possible)) return empty
      return repeat(prune(node.part, possible), node.min, node.max)
    default:
      return node
  }
}

function collect(node: Node, names: Set<string>) {
  if (node.kind === 'rule') names.add(node.name)
  if (node.kind === 'repeat') collect(node.part, names)
  if ('parts' in node) for (const part of node.parts) collect(part, names)
}

function printNode(node: Node): string {
  switch (node.kind) {
    case 'text':
      return printText(node.text)
    case 'chars':
      return printChars(node.set)
    case 'rule':
      return node.name
    case 'sequence':
      return node.parts.map(printPart).filter(Boolean).join(' ')
    case 'choice':
      return printChoice(node.parts)
    case 'repeat':
      return `${printRepeated(node.part)}${printBounds(node.min, node.max)}`
  }
}

/**
 * The empty alternative comes first, because llama.cpp would treat the line after a final `|` as a continuation of the
 * rule.
 */
function printChoice(parts: readonly Node[]): string {
  const ways = [...new Set(parts.map(printNode))]
  return ways.sort((a, b) => Number(a !== '') - Number(b !== '')).join(' | ')
}

function printPart(node: Node): string {
  const printed = printNode(node)
  const isGroup = 'parts' in node || node.kind === 'repeat'
  return isGroup && printed !== '' ? `(${printed})` : printed
}

/** Puts a string in parentheses, because otherwise only its last character would be repeated. */
const printRepeated = (node: Node): string =>
  node.kind === 'text' && node.text.length > 1 ? `(${printText(node.text)})` : printPart(node)

function printBounds(min: number, max: number): string {
  if (min === max) return `{${min}}`
  if (min === 0 && max === 1) return '?'
  if (max === Infinity && min <= 1) return min === 0 ? '*' : '+'
  return `{${min},${max === Infinity ? '' : max}}`
}

const printText = (value: string): string =>
  value === '' ? '' : `"${Array.from(value, printChar).join('')}"`

function printChars(set: CharSet): string {
  const others = complement(set)
  const isNegated = others.length < set.length
  const ranges = (isNegated ? others : set).map(([from, to]) => {
    const [first, last] = [from, to].map((code) => printChar(String.fromCodePoint(code)))
    return from === to ? first : `${first}-${last}`
  })
  return `[${isNegated ? '^' : ''}${ranges.join('')}]`
}

/** Escapes a character for use in a string literal or in a class. */
function printChar(char: string): string {
  const code = char.codePointAt(0) as number
  if (char === '\n') return '\\n'
  if (char === '\t') return '\\t'
  if ('"\\[]'.includes(char)) return `\\${char}`
  if ((/[ -~]/.test(char) && !'^-'.includes(char)) || /\p{L}/u.test(char)) return char
  const digits = code.toString(16).toUpperCase()
  if (code <= 0xff) return `\\x${digits.padStart(2, '0')}`
  return code <= 0xffff ? `\\u${digits.padStart(4, '0')}` : `\\U${digits.padStart(8, '0')}`
}
