import { type Environment, Interpreter } from '@huggingface/jinja'
import type { Budget } from './budget.ts'
import {
  type Arguments,
  compare,
  countFilter,
  countItems,
  filter,
  toCharacters,
} from './filters.ts'
import { findMethod } from './methods.ts'
import { operate } from './operators.ts'
import { restoreEscaped } from './shield.ts'
import { templateLimitError } from './template-limit.ts'
import { print } from './text-functions.ts'
import {
  isInteger,
  isList,
  isMapping,
  isNull,
  isText,
  isUndefined,
  itemsOf,
  toArray,
  toText,
  toValue,
  type Value,
} from './values.ts'

/** A node of a parsed template. */
type Node = { type: string; [member: string]: unknown }

/** The maximum depth of nested macro and function calls. */
const maxCalls = 200

/** The types of nodes that only look up a value and do not create one. */
const lookups = new Set(['Identifier', 'MemberExpression'])

/**
 * Extends the library's interpreter with what models' templates need: Python's methods, more filters, integer keys, and
 * undefined values that are treated as empty. Throws if the limits are exceeded.
 */
export class TemplateInterpreter extends Interpreter {
  #budget: Budget
  #calls = 0
  /** For each mapping, its integer keys by their text. */
  #integerKeys = new WeakMap<Value, Map<string, Value>>()

  constructor(environment: Environment, budget: Budget) {
    super(environment)
    this.#budget = budget
  }

  evaluate(node: Node | undefined, environment: Environment): Value {
    this.#budget.spend(1)
    if (node?.type === 'Evaluated') return node.value as Value
    const value =
      node?.type === 'ObjectLiteral'
        ? this.#evaluateMapping(node, environment)
        : (super.evaluate(node, environment) as Value)
    if (!lookups.has(node?.type ?? '')) this.#budget.countNew(value)
    return value
  }

  /** Evaluates a mapping. Its keys must be strings or integers, because templates use no other types of keys. */
  #evaluateMapping(node: Node, environment: Environment): Value {
    const mapping = toValue({})
    const integers = new Map<string, Value>()
    for (const [keyNode, valueNode] of node.value as Map<Node, Node>) {
      const key = this.evaluate(keyNode, environment)
      if (isInteger(key)) integers.set(String(key.value), key)
      else if (!isText(key)) throw new Error(`a dictionary key must be a string or an integer`)
      ;(mapping.value as Map<string, Value>).set(
        String(key.value),
        this.evaluate(valueNode, environment),
      )
    }
    if (integers.size > 0) this.#integerKeys.set(mapping, integers)
    return mapping
  }

  /** Evaluates statements and joins their output. Prints lists and mappings as Python does. */
  evaluateBlock(statements: Node[], environment: Environment): Value {
    let text = ''
    for (const statement of statements) {
      const value = this.evaluate(statement, environment)
      if (!isNull(value)) text += print(value, this.#budget)
      this.#budget.checkLength(text.length)
    }
    return toValue(text)
  }

  evaluateTestExpression(node: Node, environment: Environment): Value {
    const { operand, test, negate } = node as Node & { operand: Node; test: Node; negate: boolean }
    if (test.value === 'iterable') {
      const value = this.evaluate(operand, environment)
      const isIterable = isUndefined(value) || isText(value) || isList(value) || isMapping(value)
      return toValue(isIterable !== negate)
    }
    return super.evaluateTestExpression(node, environment)
  }

  evaluateBinaryExpression(node: Node, environment: Environment): Value {
    const { operator, left, right } = node as Node & {
      operator: { value: string }
      left: Node
      right: Node
    }
    const name = operator.value
    if (name === 'and' || name === 'or') return super.evaluateBinaryExpression(node, environment)
    const [a, b] = [this.evaluate(left, environment), this.evaluate(right, environment)]
    const values = { ...(node as object), left: evaluated(a), right: evaluated(b) }
    return operate(name, a, b, this.#budget) ?? super.evaluateBinaryExpression(values, environment)
  }

  evaluateFor(node: Node, environment: Environment): Value {
    const { iterable, loopvar } = node as Node & { iterable: Node; loopvar: Node }
    const isFiltered = iterable.type === 'SelectExpression'
    const source = isFiltered ? (iterable.lhs as Node) : iterable
    const items = this.#toItems(this.evaluate(source, environment), loopvar.type === 'TupleLiteral')
    this.#budget.spend(countItems(items))
    return super.evaluateFor(
      {
        ...(node as object),
        iterable: isFiltered ? { ...iterable, lhs: evaluated(items) } : evaluated(items),
      },
      environment,
    )
  }

  /**
   * Prepares the value over which a loop iterates: text becomes a list of its characters, a tuple becomes a list, and
   * undefined and `None` become an empty list.
   */
  #toItems(value: Value, isUnpacked: boolean): Value {
    if (isUndefined(value) || isNull(value)) return toArray([])
    if (isText(value)) return toCharacters(value, this.#budget)
    if (!isList(value)) return value
    const items = itemsOf(value)
    return toArray(
      isUnpacked ? items.map((item) => (isList(item) ? toArray(itemsOf(item)) : item)) : items,
    )
  }

  evaluateCallExpression(node: Node, environment: Environment): Value {
    const { callee } = node as Node & { callee: Node }
    const called = this.evaluate(callee, environment)
    if (isUndefined(called)) {
      const { value: name } = callee as { value?: unknown }
      throw new Error(
        `it calls ${typeof name === 'string' ? `${name}, which` : 'a method that'} does not exist`,
      )
    }
    const call = { ...(node as object), callee: evaluated(called) }
    if (this.#calls === maxCalls) throw templateLimitError('its macros call each other too deeply')
    this.#calls += 1
    try {
      return super.evaluateCallExpression(call, environment)
    } finally {
      this.#calls -= 1
    }
  }

  evaluateMemberExpression(node: Node, environment: Environment): Value {
    const { object, property, computed } = node as Node & {
      object: Node
      property: Node
      computed: boolean
    }
    const owner = this.evaluate(object, environment)
    const evaluatedNode = { ...(node as object), object: evaluated(owner) }
    if (computed) {
      if (property.type === 'SliceExpression') {
        if (isUndefined(owner)) return toValue(undefined)
        const text = isText(owner) && this.#sliceText(toText(owner), property, environment)
        return text || super.evaluateMemberExpression(evaluatedNode, environment)
      }
      const key = this.evaluate(property, environment)
      if (isUndefined(owner) || isNull(owner) || isUndefined(key)) return toValue(undefined)
      if (isMapping(owner)) {
        const found = (owner.value as Map<string, Value>).get(String(key.value))
        return found ?? toValue(undefined)
      }
      const withKey = { ...(evaluatedNode as object), property: evaluated(key) }
      return super.evaluateMemberExpression(withKey, environment)
    }
    const name = String(property.value)
    if (isUndefined(owner) || isNull(owner)) return toValue(undefined)
    const method = findMethod(owner, name, this.#budget)
    if (method) return method
    return super.evaluateMemberExpression(evaluatedNode, environment)
  }

  /**
   * Slices a string. If the slice has a step or the string contains surrogates, counts the cost and returns undefined.
   * The library then converts the string to a list of characters and slices that list.
   */
  #sliceText(text: string, { start, stop, step }: Node, environment: Environment) {
    if (step !== undefined || /[\ud800-\udfff]/.test(text)) {
      this.#budget.spend(text.length)
      return undefined
    }
    const [from, to] = [start, stop].map((node) =>
      node === undefined ? undefined : Number(this.evaluate(node as Node, environment).value),
    )
    return toValue(text.slice(from, to))
  }

  applyFilter(operand: Value, filterNode: Node, environment: Environment): Value {
    const isCall = filterNode.type === 'CallExpression'
    const name = String((isCall ? (filterNode.callee as Node) : filterNode).value)
    const takesValues = isCall && filtersOfValues.has(name)
    const args = takesValues ? this.#evaluateArguments(filterNode, environment) : noArguments
    countFilter(operand, name, args, this.#budget)
    const filtered =
      this.#filterIntegerKeys(operand, name) ?? filter(operand, name, args, this.#budget)
    if (filtered) return filtered
    const list = isList(operand) ? toArray(itemsOf(operand)) : operand
    const call = takesValues ? { ...filterNode, args: args.nodes } : filterNode
    const value = super.applyFilter(list, call, environment) as Value
    const isAscii = name === 'tojson' && args.named.get('ensure_ascii')?.value === true
    return isAscii ? toValue(restoreEscaped(toText(value))) : value
  }

  /**
   * Evaluates the arguments of a filter. In the result, `nodes` contains the arguments as nodes that already have these
   * values, so that the library does not evaluate the arguments again.
   */
  #evaluateArguments(call: Node, environment: Environment): Arguments & { nodes: Node[] } {
    const args = { positional: [] as Value[], named: new Map<string, Value>(), nodes: [] as Node[] }
    for (const node of call.args as Node[]) {
      if (node.type === 'KeywordArgumentExpression') {
        const value = this.evaluate(node.value as Node, environment)
        args.named.set(String((node.key as Node).value), value)
        args.nodes.push({ ...node, value: evaluated(value) })
      } else if (node.type.includes('Spread')) args.nodes.push(node)
      else {
        const value = this.evaluate(node, environment)
        args.positional.push(value)
        args.nodes.push(evaluated(value))
      }
    }
    return args
  }

  /**
   * Applies `items` or `dictsort` to a mapping with integer keys, which the library would return as strings. Returns
   * undefined in all other cases.
   */
  #filterIntegerKeys(operand: Value, name: string): Value | undefined {
    const integers = this.#integerKeys.get(operand)
    if (!integers || (name !== 'dictsort' && name !== 'items')) return undefined
    const pairs = [...(operand.value as Map<string, Value>)].map(([key, value]) => [
      integers.get(key) ?? toValue(key),
      value,
    ])
    if (name === 'dictsort') pairs.sort(([a], [b]) => compare(a as Value, b as Value))
    return toArray(pairs.map((pair) => toArray(pair as Value[])))
  }
}

/**
 * The filters whose arguments are evaluated in advance, because they determine the filter's cost or because the library
 * lacks the filter. The library evaluates the arguments of all other filters.
 */
const filtersOfValues = new Set(['tojson', 'replace', 'indent', 'join', 'round'])

const noArguments = { positional: [], named: new Map(), nodes: [] }

const evaluated = (value: Value): Node => ({ type: 'Evaluated', value })
