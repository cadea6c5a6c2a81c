/** Calls whose arguments are literals: `add(a=1, b="x")` in Python, and Gemma's `add{a:1,b:<|"|>x<|"|>}`. */

import { chars, choice, type Node, optional, repeat, rule, sequence, text } from '../gbnf/node.ts'
import type { Conversion } from '../json/conversion.ts'
import { basics, continued, enclosed, ended } from '../json/json-text.ts'
import { anyMembers } from '../json/members.ts'
import { cannot } from '../schema/schema-error.ts'
import { type Argument, argumentSchemas } from './argument-schemas.ts'
import type { CallTool, LiteralSyntax } from './call-syntax.ts'
import { patternFor, plainTexts } from './plain-text.ts'

/** The rules for JSON values, in which Booleans and null can also be written as in Python. */
export const pythonBasics: Record<string, Node> = {
  ...basics,
  boolean: choice(...['True', 'False', 'true', 'false'].map(text)),
  null: choice(text('None'), text('null')),
}

/** Returns a function that creates the grammar for calls of a tool. */
export function literalCalls(conversion: Conversion, dialect: LiteralSyntax['dialect']) {
  const isPython = dialect === 'python'
  const [open, close, equals] = isPython ? ['(', ')', '='] : ['{', '}', ':']
  const writeValue = isPython
    ? ({ schemas, place }: Argument) => conversion.visit(schemas, place)
    : gemmaValues(conversion)

  function pair(argument: Argument): Node {
    const { name, place } = argument
    if (!/^[\w.$-]+$/.test(name)) throw cannot(place, `the name ${name}`)
    return sequence(text(name + equals), writeValue(argument))
  }

  return (tool: CallTool): Node => {
    const all = argumentSchemas(conversion, tool)
    const members = {
      needed: all.filter(({ isRequired }) => isRequired).map(pair),
      optional: all.filter(({ isRequired }) => !isRequired).map(pair),
      others: undefined,
    }
    return sequence(text(tool.name), enclosed(open, anyMembers(conversion, members), close))
  }
}

const gemmaQuote = '<|"|>'
const gemmaKey = repeat(
  chars('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-'),
  1,
  64,
)

/**
 * Returns a function that creates the grammar for an argument's value. If the value may be a list or an object, or a
 * string among other types, only its type is enforced.
 */
function gemmaValues(conversion: Conversion) {
  const { grammar, visit } = conversion
  const excluded = [patternFor(gemmaQuote)]
  const writeText = plainTexts(conversion)
  const quoted = (argument: Argument) =>
    sequence(text(gemmaQuote), writeText(argument, excluded), text(gemmaQuote))
  const listOf = (item: Node) => optional(ended(sequence(item, repeat(continued(item), 0))))

  const { node: value, set } = grammar.reserve('value')
  const kinds: Record<string, Node> = {
    string: quoted({ ...anyArgument, types: new Set(['string']) }),
    ...Object.fromEntries(
      ['number', 'integer', 'boolean', 'null'].map((type) => [type, rule(type)]),
    ),
    array: enclosed('[', listOf(value), ']'),
    object: enclosed('{', listOf(sequence(gemmaKey, text(':'), value)), '}'),
  }
  set(choice(...Object.values(kinds)))

  return (argument: Argument): Node => {
    const { types, schemas, place } = argument
    if (types.size === 1 && types.has('string')) return quoted(argument)
    const isScalar = !['string', 'array', 'object'].some((type) => types.has(type))
    if (types.size > 0 && isScalar) return visit(schemas, place)
    const own = [...types].flatMap((type) => kinds[type] ?? [])
    return own.length === 0 ? value : choice(...own)
  }
}

const anyArgument: Argument = {
  name: '',
  isRequired: false,
  schemas: [{ type: 'string' }],
  place: '',
  types: new Set(),
}
