/** The rules for JSON that all grammars share. */
import {
  chars,
  choice,
  empty,
  type Node,
  optional,
  repeat,
  rule,
  sequence,
  text,
} from '../gbnf/node.ts'

const hex = chars('0123456789ABCDEFabcdef')
const digit = chars('0123456789')
const unescaped = chars([
  [0x20, 0x21],
  [0x23, 0x5b],
  [0x5d, 0x7e],
  [0x80, 0xd7ff],
  [0xe000, 0x10ffff],
])
/** The hexadecimal digits after `\u`. Surrogates are allowed only in pairs. */
const codeUnits = choice(
  sequence(chars('0123456789ABCEFabcef'), repeat(hex, 3, 3)),
  sequence(chars('Dd'), chars('01234567'), hex, hex),
  sequence(
    ...[chars('Dd'), chars('89ABab'), hex, hex, text('\\u')],
    ...[chars('Dd'), chars('CDEFcdef'), hex, hex],
  ),
)
const space = rule('space')
const comma = rule('comma')

/** Whitespace is limited, because a model could generate it forever. */
export const basics: Record<string, Node> = {
  space: choice(empty, text(' '), sequence(text('\n'), repeat(chars(' \t'), 0, 20))),
  comma: sequence(space, text(','), space),
  char: choice(
    unescaped,
    sequence(text('\\'), choice(chars('"\\/bfnrt'), sequence(text('u'), codeUnits))),
  ),
  string: sequence(text('"'), repeat(rule('char'), 0), text('"')),
  integer: sequence(
    optional(text('-')),
    choice(text('0'), sequence(chars('123456789'), repeat(digit, 0, 14))),
  ),
  // Exponents have up to two digits, because numbers with larger exponents could be parsed as infinity.
  number: sequence(
    rule('integer'),
    optional(sequence(text('.'), repeat(digit, 1, 16))),
    optional(sequence(chars('eE'), optional(chars('+-')), repeat(digit, 1, 2))),
  ),
  boolean: choice(text('true'), text('false')),
  null: text('null'),
  pair: sequence(rule('string'), space, text(':'), space, rule('value')),
  object: enclosed('{', list(rule('pair')), '}'),
  array: enclosed('[', list(rule('value')), ']'),
  value: choice(...['object', 'array', 'string', 'number', 'boolean', 'null'].map(rule)),
}

function list(item: Node): Node {
  return optional(sequence(item, repeat(sequence(comma, item), 0), space))
}

export const literal = (value: unknown): Node => text(JSON.stringify(value))

/** A list or an object. `body` ends with whitespace, unless it is empty. */
export function enclosed(open: string, body: Node, close: string): Node {
  return sequence(text(open), space, body, text(close))
}

/** Puts commas between the nodes. */
export const separated = (nodes: readonly Node[]): Node =>
  sequence(...nodes.flatMap((node, index) => (index === 0 ? [node] : [comma, node])))

/** Puts a comma before a node. */
export const continued = (node: Node): Node => sequence(comma, node)

/** Allows whitespace at the end of a body. */
export const ended = (body: Node): Node => sequence(body, space)

export const member = (name: Node, value: Node): Node =>
  sequence(name, space, text(':'), space, value)
