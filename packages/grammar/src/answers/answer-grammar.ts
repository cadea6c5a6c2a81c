/** Grammars for answers that must have a form, such as JSON: reasoning may come first, and calls may replace the form. */

import { negate } from '../automata/automaton.ts'
import { complement } from '../automata/char-set.ts'
import { patternFor } from '../calls/plain-text.ts'
import { plainGrammar } from '../gbnf/automaton-grammar.ts'
import { chars, choice, type Node, repeat, sequence, text } from '../gbnf/node.ts'
import { textTree } from '../gbnf/text-tree.ts'
import type { Conversion } from '../json/conversion.ts'
import { makeGrammar } from '../json/json-grammar.ts'
import { findPattern } from '../json/strings.ts'
import { patternNode } from '../text/text-grammars.ts'

/** The parts of an answer and the markers around them. */
export type AnswerSyntax = {
  /** The reasoning before the form. The model may omit reasoning that has not begun. Undefined for no reasoning. */
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
  /** The text before the form. */
  before: string
  /** JSON that matches a schema, text that matches a regular expression, or one of several texts. */
  form: { schema: object } | { pattern: string } | { choices: readonly string[] }
  /** The schema of calls without markers, if there are any. It contains no references. */
  bareCall: object | undefined
  /** The markers with which a call begins. `callGrammar` describes the rest, so any text is allowed after a marker. */
  calls: readonly string[]
  /** The sequence of markers with which a call ends the reasoning; empty if no call does. */
  callsInReasoning: readonly string[]
}

/** Models write up to two line feeds between the parts of an answer. */
const space = repeat(chars('\n '), 0, 4)

/** Any text. llama.cpp has no notation for a class of all characters, so the null character is excluded. */
const anyText = repeat(chars(complement([[0, 0]])), 0)

/** Returns the grammar in GBNF. Throws a `SchemaError` if the schema cannot be enforced. */
export function answerGrammar(syntax: AnswerSyntax): string {
  const { reasoning, before, form, bareCall, calls, callsInReasoning } = syntax
  function write(conversion: Conversion): Node {
    const bare = bareCall ? [conversion.visit([bareCall], '')] : []
    const called = calls.map((marker) => sequence(space, text(marker), anyText))
    const answer = choice(sequence(text(before), formNode(conversion, form)), ...bare, ...called)
    if (!reasoning) return answer
    const { open, close, isBegun, after } = reasoning
    const rest = sequence(text(close), space, text(after), answer)
    const early = callsInReasoning.flatMap((marker) => [text(marker), space])
    const ends = early.length > 0 ? [rest, sequence(...early, anyText)] : [rest]
    const thought = sequence(until(conversion, close), choice(...ends))
    return isBegun ? thought : choice(answer, sequence(space, text(open), thought), rest)
  }
  return makeGrammar('schema' in form ? form.schema : {}, write)
}

function formNode(conversion: Conversion, form: AnswerSyntax['form']): Node {
  if ('schema' in form) return conversion.visit([form.schema], '')
  if ('pattern' in form) return patternNode(conversion, form.pattern)
  return textTree(conversion.grammar, form.choices)
}

/** Any text that does not contain `end`. */
function until(conversion: Conversion, end: string): Node {
  const { grammar, budget } = conversion
  return plainGrammar(grammar, negate(budget, findPattern(conversion, patternFor(end), '')))
}
