/** Grammars for answers that end with JSON: reasoning may come first, and calls may replace the JSON. */

import { negate } from '../automata/automaton.ts'
import { complement } from '../automata/char-set.ts'
import { plainGrammar } from '../gbnf/automaton-grammar.ts'
import { chars, choice, type Node, repeat, rule, sequence, text } from '../gbnf/node.ts'
import type { Conversion } from '../json/conversion.ts'
import { makeGrammar } from '../json/json-grammar.ts'
import { findPattern } from '../json/strings.ts'
import { patternFor } from './plain-text.ts'

/** The parts of an answer and the markers around them. */
export type AnswerSyntax = {
  /** The reasoning before the JSON. The model may omit reasoning that has not begun. Undefined for no reasoning. */
  reasoning:
    | {
        open: string
        close: string
        /** Whether the prompt ends with the opening marker. */
        isBegun: boolean
        /** The text between the closing marker and the next part. */
        after: string
      }
    | undefined
  /** The text before the JSON. */
  before: string
  /** The schema of the JSON; `true` stands for any object. */
  schema: object | true
  /** The markers with which a call begins. `callGrammar` describes the rest, so any text is allowed after a marker. */
  calls: readonly string[]
  /** The sequence of markers with which a call ends the reasoning; empty if no call does. */
  callsInReasoning: readonly string[]
}

/** Models write up to two line feeds before an answer. */
const space = repeat(chars('\n '), 0, 4)

/** Any text. llama.cpp has no notation for a class of all characters, so the null character is excluded. */
const anyText = repeat(chars(complement([[0, 0]])), 0)

/** Returns the grammar in GBNF. Throws a `SchemaError` if the schema cannot be enforced. */
export function answerGrammar(syntax: AnswerSyntax): string {
  const { reasoning, before, schema, calls, callsInReasoning } = syntax
  function write(conversion: Conversion): Node {
    const json = schema === true ? rule('object') : conversion.visit([schema], '')
    const called = calls.length === 0 ? [] : [sequence(choice(...calls.map(text)), anyText)]
    const answer = sequence(space, choice(sequence(text(before), json), ...called))
    if (!reasoning) return answer
    const { open, close, isBegun, after } = reasoning
    const rest = sequence(text(close), space, text(after), answer)
    const early = callsInReasoning.flatMap((marker) => [text(marker), space])
    const thought = sequence(
      until(conversion, close),
      early.length > 0 ? choice(rest, sequence(...early, anyText)) : rest,
    )
    return isBegun ? thought : choice(answer, sequence(space, text(open), thought), rest)
  }
  return makeGrammar(schema === true ? {} : schema, write)
}

/** Any text that does not contain `end`. */
function until(conversion: Conversion, end: string): Node {
  const { grammar, budget } = conversion
  return plainGrammar(grammar, negate(budget, findPattern(conversion, patternFor(end), '')))
}
