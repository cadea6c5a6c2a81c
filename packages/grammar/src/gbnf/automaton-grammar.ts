/** Converts automata to grammars. A state to which several moves lead becomes a rule. */
import type { Automaton, State } from '../automata/automaton.ts'
import { type CharSet, charsOf, complement, intersection, union } from '../automata/char-set.ts'
import type { Grammar } from './grammar.ts'
import { chars, choice, empty, type Node, rule, sequence, text } from './node.ts'

/** The characters that JSON must escape, and the delete character, which llama.cpp also escapes. */
const escaped = union([[0, 0x1f], ...charsOf('"\\\x7f')])
const raw = complement(escaped)

/** A grammar for the strings that an automaton accepts, written as JSON strings with quotation marks. */
export const quotedGrammar = (grammar: Grammar, automaton: Automaton): Node =>
  sequence(text('"'), automatonGrammar(grammar, automaton, jsonChars), text('"'))

/** A grammar for the strings that an automaton accepts, without quotation marks or escapes. */
export const plainGrammar = (grammar: Grammar, automaton: Automaton): Node =>
  automatonGrammar(grammar, automaton, chars)

/** The maximum size of a set that is written inline. Larger sets become rules, because many states may share a set. */
const maxInline = 8

/**
 * One character of the set, escaped only if necessary. If the set contains all characters, all escape sequences are
 * allowed too.
 */
function jsonChars(set: CharSet): Node {
  if (complement(set).length === 0) return rule('char')
  const own = intersection(set, raw)
  const escapes = intersection(set, escaped).flatMap(([from, to]) =>
    Array.from({ length: to - from + 1 }, (_, index) => text(escapeOf(from + index))),
  )
  return choice(...(own.length > 0 ? [chars(own)] : []), ...escapes)
}

const escapeOf = (code: number) =>
  code === 0x7f ? '\\u007f' : JSON.stringify(String.fromCodePoint(code)).slice(1, -1)

/** The maximum nesting depth of states that are written into the rule of another state. */
const maxDepth = 6

function automatonGrammar(
  grammar: Grammar,
  automaton: Automaton,
  toNode: (set: CharSet) => Node,
): Node {
  const moves = automaton.map(groupMoves)
  const uses = Map.groupBy(
    moves.flatMap((targets) => [...targets.keys()]),
    (target) => target,
  )
  const known = new Map<number, Node>()
  const sets = new Map<string, Node>()
  const waiting: { state: number; set: (body: Node) => void }[] = []

  function reference(state: number): Node {
    const done = known.get(state)
    if (done) return done
    const { node, set } = grammar.reserve('text')
    known.set(state, node)
    waiting.push({ state, set })
    return node
  }

  function body(state: number, depth: number): Node {
    const ways = Array.from(moves[state] ?? [], ([target, set]) =>
      sequence(charOf(set), after(target, depth)),
    )
    return choice(...(automaton[state]?.accepts ? [empty] : []), ...ways)
  }

  function charOf(set: CharSet): Node {
    const key = set.join()
    const node = sets.get(key) ?? asRule(toNode(set))
    sets.set(key, node)
    return node
  }

  function asRule(node: Node): Node {
    const size = 'parts' in node ? node.parts.length : node.kind === 'chars' ? node.set.length : 0
    return size > maxInline ? grammar.add('one', node) : node
  }

  function after(state: number, depth: number): Node {
    if (moves[state]?.size === 0) return empty
    const isUsedOnce = uses.get(state)?.length === 1 && state !== 0
    return isUsedOnce && depth < maxDepth ? body(state, depth + 1) : reference(state)
  }

  const start = reference(0)
  for (const { state, set } of waiting) set(body(state, 0))
  return start
}

/** Returns, for each target state, the characters of the moves to that state. */
function groupMoves({ moves }: State): Map<number, CharSet> {
  const groups = Map.groupBy(moves, ({ target }) => target)
  return new Map(
    Array.from(groups, ([target, all]) => [target, all.map(({ from, to }) => [from, to] as const)]),
  )
}
