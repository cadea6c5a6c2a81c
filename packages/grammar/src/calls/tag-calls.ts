/** Calls with a tag for each parameter: `add><parameter=a>1</parameter></function>`. Values are plain text or JSON. */
import { negate } from '../automata/automaton.ts'
import { patternAutomaton } from '../automata/pattern-automaton.ts'
import { plainGrammar } from '../gbnf/automaton-grammar.ts'
import { choice, empty, type Node, optional, rule, sequence, text } from '../gbnf/node.ts'
import type { Conversion } from '../json/conversion.ts'
import { type Argument, argumentSchemas } from './argument-schemas.ts'
import type { CallTool, TagSyntax } from './call-syntax.ts'
import { patternFor, plainTexts } from './plain-text.ts'
import { textParts } from './text-parts.ts'

const space = rule('space')

/**
 * The maximum number of rules for parameters in any order. If more rules are needed, the parameters must be in the
 * order of the schema.
 */
const maxOrderRules = 4000
const cdataOpen = '<![CDATA['
const cdataEnd = ']]>'

/** Returns a function that creates the grammar for calls of a tool. `toolCount` is the number of tools. */
export function tagCalls(conversion: Conversion, syntax: TagSyntax, toolCount: number) {
  const { grammar } = conversion
  const writeText = plainTexts(conversion, cdata(conversion))

  function parameterNode(argument: Argument): Node {
    const { name } = argument
    const end = syntax.valueEnd.replace('KEY', () => name)
    return sequence(
      space,
      text(syntax.keyOpen + name),
      textParts(syntax.afterKey, name),
      valueNode(argument, end),
      text(`${syntax.isPadded ? '\n' : ''}${end}`),
    )
  }

  /**
   * Creates the grammar for an argument's value. A value that may be a string is written as text, and any other value
   * as JSON. Objects and lists are not constrained in formats that may write them as nested tags (`nestedJson`).
   */
  function valueNode(argument: Argument, end: string): Node {
    const { types, schemas, place } = argument
    const isNested = end !== syntax.valueEnd && (types.has('object') || types.has('array'))
    const isText = types.size === 0 || types.has('string') || isNested
    if (!isText) return conversion.visit(schemas, place)
    return writeText(argument, [patternFor(end), `^${patternFor(cdataOpen)}`])
  }

  return (tool: CallTool): Node => {
    const parameters = argumentSchemas(conversion, tool).map((argument) => ({
      node: grammar.add('parameter', parameterNode(argument)),
      isRequired: argument.isRequired,
    }))
    const isAnyOrder = toolCount * 2 ** parameters.length <= maxOrderRules
    return sequence(
      text(tool.name),
      textParts(syntax.afterName, tool.name),
      isAnyOrder ? inAnyOrder(conversion, parameters) : inOrder(parameters),
      space,
      text(syntax.end),
    )
  }
}

type Parameter = { node: Node; isRequired: boolean }

const inOrder = (parameters: readonly Parameter[]): Node =>
  sequence(...parameters.map(({ node, isRequired }) => (isRequired ? node : optional(node))))

/** The parameters in any order, each at most once. There is a rule for each set of remaining parameters. */
function inAnyOrder({ grammar }: Conversion, parameters: readonly Parameter[]): Node {
  const known = new Map<string, Node>()
  function rest(left: readonly Parameter[]): Node {
    const key = left.map((one) => parameters.indexOf(one)).join()
    const node = known.get(key) ?? grammar.add('parameters', body(left))
    known.set(key, node)
    return node
  }
  function body(left: readonly Parameter[]): Node {
    const ways = left.map((one) => sequence(one.node, rest(left.filter((other) => other !== one))))
    return choice(...(left.some(({ isRequired }) => isRequired) ? [] : [empty]), ...ways)
  }
  return rest(parameters)
}

/** Text between CDATA markers. It can contain the marker that otherwise ends a value. */
function cdata({ grammar, budget }: Conversion): Node {
  const content = negate(budget, patternAutomaton(budget, patternFor(cdataEnd)))
  return sequence(text(cdataOpen), plainGrammar(grammar, content), text(cdataEnd))
}
