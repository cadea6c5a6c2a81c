/** Grammars for strings that are written without escape sequences, up to an end marker. */

import { everyText, intersect, negate } from '../automata/automaton.ts'
import { plainGrammar } from '../gbnf/automaton-grammar.ts'
import { choice, type Node, nothing } from '../gbnf/node.ts'
import { textTree } from '../gbnf/text-tree.ts'
import type { Conversion } from '../json/conversion.ts'
import { findPattern, stringAutomaton } from '../json/strings.ts'
import { finiteValues } from '../json/values.ts'
import type { Argument } from './argument-schemas.ts'

const maxValues = 1000

/**
 * Returns a function that creates the grammar for an argument's value, which is written as plain text. If the possible
 * values cannot be listed, any text is allowed, unless the value must be a string and its schema contains no choice
 * such as `anyOf`. The text must not match the regular expressions in `excluded`. `other` is an alternative form for
 * text that the schema does not constrain.
 */
export function plainTexts(conversion: Conversion, other: Node = nothing) {
  const { budget, grammar } = conversion
  /** The rules for unconstrained text, by the patterns that the text must not match. */
  const anyTexts = new Map<string, Node>()

  function without(excluded: readonly string[], allowed = everyText): Node {
    const automata = excluded.map((pattern) => negate(budget, findPattern(conversion, pattern, '')))
    return plainGrammar(
      grammar,
      automata.reduce((all, one) => intersect(budget, all, one), allowed),
    )
  }

  function anyText(excluded: readonly string[]): Node {
    const key = excluded.join('\n')
    const node = anyTexts.get(key) ?? grammar.add('text', choice(without(excluded), other))
    anyTexts.set(key, node)
    return node
  }

  return ({ schemas, place, types }: Argument, excluded: readonly string[]): Node => {
    const all = conversion.simplify(schemas, place)
    const values = finiteValues(conversion, all, maxValues, place)
    if (values === undefined) {
      const isSimple = types.size === 1 && types.has('string') && all.choices.length === 0
      const allowed = isSimple ? stringAutomaton(conversion, all.parts, place) : everyText
      return allowed === everyText ? anyText(excluded) : without(excluded, allowed)
    }
    const texts = values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
    const patterns = excluded.map((pattern) => new RegExp(pattern))
    const isAllowed = (one: string) => !patterns.some((pattern) => pattern.test(one))
    return textTree(grammar, texts.filter(isAllowed))
  }
}

/** Returns a regular expression that matches the text literally. */
export const patternFor = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
