/** Grammars for lists of strings. */
import type { Grammar } from './grammar.ts'
import { choice, type Node, sequence, text } from './node.ts'

/**
 * Up to this many strings become simple alternatives. Longer lists are grouped by common beginnings, so that only a few
 * alternatives are possible at each position.
 */
const maxFlat = 16
/** Deeper groups become rules, because llama.cpp parses nested groups recursively. */
const maxDepth = 8

/** A grammar that allows any one of the strings. */
export function textTree(grammar: Grammar, texts: readonly string[], depth = 0): Node {
  if (texts.length <= maxFlat) return choice(...texts.map(text))
  const groups = Map.groupBy(texts, firstChar)
  const ways = Array.from(groups, ([, group]) => {
    const length = sharedLength(group)
    const rests = group.map((one) => one.slice(length))
    const beginning = text((group[0] as string).slice(0, length))
    return rests.length === 1 ? beginning : sequence(beginning, textTree(grammar, rests, depth + 1))
  })
  return depth > 0 && depth % maxDepth === 0
    ? grammar.add('texts', choice(...ways))
    : choice(...ways)
}

const firstChar = (one: string) => one.slice(0, (one.codePointAt(0) ?? 0) > 0xffff ? 2 : 1)

/** The length in code units of the beginning that all strings have in common. Never splits a character. */
function sharedLength(texts: readonly string[]): number {
  const [first = '', ...others] = texts
  let length = first.length
  for (const other of others) {
    while (!other.startsWith(first.slice(0, length))) length -= 1
  }
  const isSplit = /[\ud800-\udbff]$/.test(first.slice(0, length)) && length < first.length
  return isSplit ? length - 1 : length
}
