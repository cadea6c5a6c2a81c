/**
 * Converts tools to a grammar for calls in a model's format. The grammar starts after a call's opening markers. A
 * model that decides to call a tool can then only write a complete call whose arguments match the tool's schema.
 */

import { choice, empty, type Node, optional, repeat, rule, sequence, text } from '../gbnf/node.ts'
import type { Conversion } from '../json/conversion.ts'
import { makeGrammar } from '../json/json-grammar.ts'
import {
  basics,
  continued,
  enclosed,
  ended,
  literal,
  member,
  separated,
} from '../json/json-text.ts'
import { movedTo } from '../schema/schema.ts'
import type { CallSyntax, CallTool, JsonSyntax, OptionalCalls } from './call-syntax.ts'
import { literalCalls, pythonBasics } from './literal-calls.ts'
import { tagCalls } from './tag-calls.ts'
import { textParts } from './text-parts.ts'

/**
 * Returns the grammar in GBNF. Throws a `SchemaError` with the reason if no grammar can enforce the tools' schemas in
 * this format.
 */
export function callGrammar({ syntax, tools }: OptionalCalls): string {
  const schemas = tools.map(({ parameters }, index) => ({
    type: 'object',
    ...movedTo(`/anyOf/${index}`, parameters),
  }))
  const root = { anyOf: schemas }
  const isList = 'isList' in syntax && syntax.isList
  const isPython = syntax.kind === 'literals' && syntax.dialect === 'python'

  function write(conversion: Conversion): Node {
    const writeCall = callWriter(conversion, syntax, tools.length)
    const calls = tools.map(({ name }, index) =>
      writeCall({ name, schema: schemas[index] as object, root, place: `/anyOf/${index}` }),
    )
    const call = conversion.grammar.add('call', choice(...calls))
    const list = ended(sequence(call, repeat(continued(call), 0)))
    const before = syntax.kind === 'message' ? empty : rule('space')
    return sequence(before, isList ? enclosed('[', list, ']') : call)
  }
  return makeGrammar(root, write, isPython ? pythonBasics : basics)
}

function callWriter(
  conversion: Conversion,
  syntax: CallSyntax,
  toolCount: number,
): (tool: CallTool) => Node {
  const args = ({ schema, place }: CallTool) => conversion.visit([schema], place)
  const json = (tool: CallTool) => sequence(rule('space'), args(tool))
  switch (syntax.kind) {
    case 'json':
      return (tool) => jsonCall(syntax, tool.name, args(tool))
    case 'named':
      return (tool) =>
        sequence(
          textParts(syntax.before, tool.name),
          text(tool.name),
          textParts(syntax.between, tool.name),
          json(tool),
        )
    case 'message':
      return (tool) => sequence(text(`functions.${tool.name}`), messageHeader, json(tool))
    case 'tags':
      return tagCalls(conversion, syntax, toolCount)
    case 'literals':
      return literalCalls(conversion, syntax.dialect)
  }
}

function jsonCall({ before, nameKey, argumentsKey, after }: JsonSyntax, name: string, args: Node) {
  const ofText = (key: string) => member(literal(key), rule('string'))
  const own =
    nameKey === undefined
      ? [member(literal(name), args)]
      : [member(literal(nameKey), literal(name)), member(literal(argumentsKey), args)]
  const members = separated([...before.map(ofText), ...own])
  const others = after.map((key) => optional(continued(ofText(key))))
  return enclosed('{', ended(sequence(members, ...others)), '}')
}

/**
 * The rest of a message's header: `<|channel|>commentary <|constrain|>json<|message|>`. Only the last part is required.
 */
const messageHeader = sequence(
  optional(
    sequence(
      optional(text(' ')),
      text('<|channel|>'),
      choice(text('commentary'), text('analysis')),
    ),
  ),
  optional(choice(text(' json'), sequence(optional(text(' ')), text('<|constrain|>json')))),
  text('<|message|>'),
)
