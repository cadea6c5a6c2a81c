import { choice, type Node, rule } from '../gbnf/node.ts'
import { textTree } from '../gbnf/text-tree.ts'
import { keywordsOfType, negatedKeywords, type Schema, valuesOf } from '../schema/schema.ts'
import { arrayNode } from './arrays.ts'
import type { Conversion } from './conversion.ts'
import { numberNode } from './numbers.ts'
import { objectNode } from './objects.ts'
import { stringNode } from './strings.ts'
import { constants, listedValues, type Type, writtenTypes } from './values.ts'

/** Returns a function that creates the grammar of a value that must match all of the given schemas, without choices. */
export function plainValues(conversion: Conversion) {
  const { grammar } = conversion

  const scalars = new Map<string, Node>()
  /** Strings or numbers with the same keywords share a rule, because their automata take time and space. */
  function scalar(type: 'string' | 'number' | 'integer', parts: readonly Schema[], path: string) {
    const keywords = [...keywordsOfType.string, ...keywordsOfType.number, ...negatedKeywords]
    const key = JSON.stringify([type, ...keywords.map((keyword) => valuesOf(parts, keyword))])
    const known = scalars.get(key)
    if (known) return known
    const node =
      type === 'string'
        ? stringNode(conversion, parts, path)
        : numberNode(conversion, parts, type === 'integer', path)
    const shared = node.kind === 'rule' ? node : grammar.add(type, node)
    scalars.set(key, shared)
    return shared
  }

  function ofType(type: Type, parts: readonly Schema[], path: string): Node {
    switch (type) {
      case 'object':
        return objectNode(conversion, parts, path)
      case 'array':
        return arrayNode(conversion, parts, path)
      case 'string':
      case 'number':
      case 'integer':
        return scalar(type, parts, path)
      case 'boolean':
      case 'null':
        return constants(type, parts)
    }
  }

  return (parts: readonly Schema[], path: string): Node => {
    if (parts.length === 0) return rule('value')
    const types = writtenTypes(parts, path)
    if (types.length === 0) conversion.explain(path, 'its parts have no type in common')
    const listed = listedValues(conversion, parts, path)
    if (listed === undefined) return choice(...types.map((type) => ofType(type, parts, path)))
    if (listed.length === 0) conversion.explain(path, 'its parts have no value in common')
    return textTree(grammar, [...new Set(listed.map((value) => JSON.stringify(value)))])
  }
}
