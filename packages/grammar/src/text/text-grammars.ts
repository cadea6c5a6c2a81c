/** Grammars for plain text. */
import { isEmpty } from '../automata/automaton.ts'
import { plainGrammar } from '../gbnf/automaton-grammar.ts'
import { type Node, nothing } from '../gbnf/node.ts'
import { textTree } from '../gbnf/text-tree.ts'
import type { Conversion } from '../json/conversion.ts'
import { makeGrammar } from '../json/json-grammar.ts'
import { findPattern } from '../json/strings.ts'

/**
 * Converts a regular expression (ECMAScript's syntax) to a grammar for the texts that it matches from beginning to end.
 * Throws a `SchemaError` with the reason if no grammar can enforce it.
 */
export const patternGrammar = (pattern: string): string =>
  makeGrammar({}, (conversion) => patternNode(conversion, pattern))

export function patternNode(conversion: Conversion, pattern: string): Node {
  const automaton = findPattern(conversion, `^(?:${pattern})$`, '')
  if (!isEmpty(automaton)) return plainGrammar(conversion.grammar, automaton)
  conversion.explain('', 'no text matches it')
  return nothing
}

/** Creates a grammar that allows one of the texts. Throws a `SchemaError` if there are too many. */
export const choiceGrammar = (texts: readonly string[]): string =>
  makeGrammar({}, ({ grammar }) => textTree(grammar, texts))
