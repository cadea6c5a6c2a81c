import type { Automaton, Budget } from '../automata/automaton.ts'
import type { Grammar } from '../gbnf/grammar.ts'
import type { Node } from '../gbnf/node.ts'
import type { Conjunction } from '../schema/conjunction.ts'
import type { Schema } from '../schema/schema.ts'

/** The state that the parts of one conversion share. */
export type Conversion = {
  grammar: Grammar
  budget: Budget
  /** The automata of the patterns that have been converted so far, by pattern. */
  patterns: Map<string, Automaton>
  /** Returns the grammar of a value that has to match all of the schemas. */
  visit: (schemas: readonly unknown[], path: string) => Node
  simplify: (schemas: readonly unknown[], path: string) => Conjunction
  /** Whether the outer schema contains the part, directly or indirectly, so that both apply to the same value. */
  isWithin: (part: Schema, outer: Schema) => boolean
  /** Records why no value matches a part of the schema, for the error message. Only the first reason is kept. */
  explain: (path: string, reason: string) => void
}
