import { type Environment, Interpreter } from '@huggingface/jinja'
import {
  isInteger,
  isList,
  isMapping,
  isNull,
  isText,
  isUndefined,
  itemsOf,
  toArray,
  toFunction,
  toText,
  toValue,
  type Value,
} from './values.ts'

/** A node of a parsed template. */
type Node = { type: string; [member: string]: unknown }

const tooLarge = 'its output is too large'
/** The maximum number of parts of a text. */
const maxItems = 100_000

/** Limits for rendering a template, because templates are untrusted. */
export type Limits = { maxSteps: number; maxCharacters: number }

/**
 * Adds to the library's interpreter what models' templates need: Python's methods, more filters, integer keys, and
 * undefined values that are treated as empty. Throws if the limits are exceeded.
 */
export class TemplateInterpreter extends Interpreter {
  #limits: Limits
  #steps = 0
  /** The integer keys of mappings, by their text. */
  #integerKeys = new WeakMap<Value, Map<string, Value>>()

  constructor(environment: Environment, limits: Limits) {
    super(environment)
    this.#limits = limits
  }

  evaluate(node: Node | undefined, environment: Environment): Value {
    this.#steps += 1
    if (this.#steps > this.#limits.maxSteps) throw new Error('it takes too many steps')
    if (node?.type === 'Evaluated') return node.value as Value
    const value =
      node?.type === 'ObjectLiteral'
        ? this.#evaluateMapping(node, environment)
        : (super.evaluate(node, environment) as Value)
    const { value: inner } = value
    const size = typeof inner === 'string' || Array.isArray(inner) ? inner.length : 0
    if (size > this.#limits.maxCharacters) throw new Error(tooLarge)
    this.#steps += size >>> 6 // large values count as more steps, because operations on them take longer
    return value
  }

  /** Evaluates a mapping whose keys are strings or integers. Templates use no other types of keys. */
  #evaluateMapping(node: Node, environment: Environment): Value {
    const mapping = toValue({})
    const integers = new Map<string, Value>()
    for (const [keyNode, valueNode] of node.value as Map<Node, Node>) {
      const key = this.evaluate(keyNode, environment)
      if (isInteger(key)) integers.set(String(key.value), key)
      else if (!isText(key)) throw new Error(`a key must be a string or an integer`)
      ;(mapping.value as Map<string, Value>).set(
        String(key.value),
        this.evaluate(valueNode, environment),
      )
    }
    if (integers.size > 0) this.#integerKeys.set(mapping, integers)
    return mapping
  }

  /** Prints lists and mappings as Python does. */
  evaluateBlock(statements: Node[], environment: Environment): Value {
    let text = ''
    for (const statement of statements) {
      const value = this.evaluate(statement, environment)
      if (!isNull(value)) text += toText(value)
      if (text.length > this.#limits.maxCharacters) throw new Error(tooLarge)
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
    return this.#operate(
      name,
      a,
      b,
      () =>
        super.evaluateBinaryExpression(
          { ...(node as object), left: evaluated(a), right: evaluated(b) },
          environment,
        ) as Value,
    )
  }

  #operate(operator: string, a: Value, b: Value, otherwise: () => Value): Value {
    const isEmpty = (value: Value) => isUndefined(value) || isNull(value)
    switch (operator) {
      case '~':
        return toValue(toText(a) + toText(b))
      case '+':
        if (isEmpty(a) && (isText(b) || isList(b))) return b
        if (isEmpty(b) && (isText(a) || isList(a))) return a
        return isText(a) || isText(b) ? toValue(toText(a) + toText(b)) : otherwise()
      case '*':
        if (isText(a) && isInteger(b))
          return toValue(this.#repeat(String(a.value), Number(b.value)))
        return otherwise()
      case '%':
        return isText(a) ? toValue(formatPercent(String(a.value), b)) : otherwise()
      case '<':
      case '>':
      case '<=':
      case '>=':
        return isEmpty(a) || isEmpty(b) ? toValue(false) : otherwise()
      case 'in':
      case 'not in': {
        const isNegated = operator === 'not in'
        if (isEmpty(b)) return toValue(isNegated)
        if (isMapping(b) && !isText(a)) {
          const has = (b.value as Map<string, Value>).has(String(a.value))
          return toValue(has !== isNegated)
        }
        if (isEmpty(a) && !isList(b)) return toValue(isNegated)
        return otherwise()
      }
      default:
        return otherwise()
    }
  }

  /** Each part of a text is an object, so a long text with many parts would take all memory. */
  #splitting(owner: Value, name: string): Value {
    const { builtins } = owner as unknown as { builtins: Map<string, Value> }
    const split = builtins.get(name)
    if (!split) return toValue(undefined)
    return toFunction((args) => {
      const [separator] = args
      const mark = separator && isText(separator) ? String(separator.value) : ' '
      const count = name === 'splitlines' ? '\n' : mark
      if (search(String(owner.value), count, 'count') > maxItems) throw new Error(tooLarge)
      return (split.value as (args: Value[]) => Value)(args)
    })
  }

  #repeat(text: string, count: number): string {
    if (text.length * count > this.#limits.maxCharacters) throw new Error(tooLarge)
    return text.repeat(Math.max(0, count))
  }

  evaluateFor(node: Node, environment: Environment): Value {
    const { iterable, loopvar } = node as Node & { iterable: Node; loopvar: Node }
    const isFiltered = iterable.type === 'SelectExpression'
    const source = isFiltered ? (iterable.lhs as Node) : iterable
    const items = toItems(this.evaluate(source, environment), loopvar.type === 'TupleLiteral')
    return super.evaluateFor(
      {
        ...(node as object),
        iterable: isFiltered ? { ...iterable, lhs: evaluated(items) } : evaluated(items),
      },
      environment,
    )
  }

  evaluateCallExpression(node: Node, environment: Environment): Value {
    const { callee } = node as Node & { callee: Node }
    const called = this.evaluate(callee, environment)
    if (isUndefined(called)) {
      const { value: name } = callee as { value?: unknown }
      throw new Error(
        `it calls ${typeof name === 'string' ? name : 'a method'}, which does not exist`,
      )
    }
    const call = { ...(node as object), callee: evaluated(called) }
    return super.evaluateCallExpression(call, environment)
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
        return super.evaluateMemberExpression(evaluatedNode, environment)
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
    const method = this.#findMethod(owner, name)
    if (method) return method
    return super.evaluateMemberExpression(evaluatedNode, environment)
  }

  /** In Python, a method has precedence over a key with the same name. */
  #findMethod(owner: Value, name: string): Value | undefined {
    if (isText(owner)) {
      const text = String(owner.value)
      if (name === 'split' || name === 'rsplit' || name === 'splitlines') {
        return this.#splitting(owner, name)
      }
      if (name === 'format') return toFunction((args) => toValue(formatBraces(text, args)))
      if (name === 'isdigit') return toFunction(() => toValue(/^\p{Nd}+$/u.test(text)))
      if (name === 'removeprefix' || name === 'removesuffix') {
        return toFunction(([part]) => toValue(removeEnd(text, toText(part ?? toValue('')), name)))
      }
      if (name === 'find' || name === 'rfind' || name === 'count') {
        return toFunction(([part]) => toValue(search(text, toText(part ?? toValue('')), name)))
      }
    }
    if (isList(owner)) {
      const items = itemsOf(owner)
      if (name === 'pop') {
        return toFunction(([at]) => {
          const index = at ? Number(at.value) : -1
          return items.splice(index, 1)[0] ?? toValue(undefined)
        })
      }
      if (name === 'append') {
        return toFunction(([item]) => {
          if (item) items.push(item)
          return toValue(null)
        })
      }
      if (name === 'extend') {
        return toFunction(([list]) => {
          if (list && isList(list)) items.push(...itemsOf(list))
          return toValue(null)
        })
      }
    }
    if (isMapping(owner)) {
      const entries = owner.value as Map<string, Value>
      if (name === 'update') {
        return toFunction(([other]) => {
          if (other && isMapping(other))
            for (const [key, value] of other.value as Map<string, Value>) entries.set(key, value)
          return toValue(null)
        })
      }
      if (name === 'pop') {
        return toFunction(([key, fallback]) => {
          const found = entries.get(String(key?.value))
          entries.delete(String(key?.value))
          return found ?? fallback ?? toValue(undefined)
        })
      }
      const builtin = (owner as unknown as { builtins: Map<string, Value> }).builtins.get(name)
      if (builtin) return builtin
    }
    return undefined
  }

  applyFilter(operand: Value, filter: Node, environment: Environment): Value {
    const node = filter as Node
    const callee = node.type === 'CallExpression' ? (node.callee as Node) : node
    const filtered = this.#filter(operand, String(callee.value))
    if (filtered) return filtered
    const list = isList(operand as Value) ? toArray(itemsOf(operand as Value)) : (operand as Value)
    return super.applyFilter(list, filter, environment)
  }

  /** Applies a filter that the library lacks. Returns undefined if the library must apply the filter. */
  #filter(operand: Value, name: string): Value | undefined {
    if (name === 'string') return toValue(toText(operand))
    const isEmpty = isUndefined(operand) || isNull(operand)
    if (isEmpty && emptyTexts.has(name))
      return toValue(isNull(operand) && name !== 'trim' ? 'None' : '')
    if (isEmpty && emptyLists.has(name)) return toArray([])
    if (isEmpty && (name === 'length' || name === 'count')) return toValue(0)
    if (isEmpty && (name === 'first' || name === 'last')) return toValue(undefined)
    if (name === 'count') return toValue(countItems(operand))
    if (isList(operand) && (name === 'min' || name === 'max')) {
      const sign = name === 'min' ? 1 : -1
      const sorted = itemsOf(operand).toSorted((a, b) => sign * compare(a, b))
      return sorted[0] ?? toValue(undefined)
    }
    const integers = this.#integerKeys.get(operand)
    if (integers && (name === 'dictsort' || name === 'items')) {
      const pairs = [...(operand.value as Map<string, Value>)].map(([key, value]) => [
        integers.get(key) ?? toValue(key),
        value,
      ])
      if (name === 'dictsort') pairs.sort(([a], [b]) => compare(a as Value, b as Value))
      return toArray(pairs.map((pair) => toArray(pair as Value[])))
    }
    return undefined
  }
}

function countItems({ value }: Value): number {
  if (value instanceof Map) return value.size
  return typeof value === 'string' || Array.isArray(value) ? value.length : 0
}

const evaluated = (value: Value): Node => ({ type: 'Evaluated', value })

const emptyTexts = new Set([
  'trim',
  'lower',
  'upper',
  'capitalize',
  'title',
  'replace',
  'join',
  'indent',
  'escape',
  'e',
])
const emptyLists = new Set([
  'list',
  'map',
  'select',
  'reject',
  'selectattr',
  'rejectattr',
  'sort',
  'reverse',
  'unique',
  'items',
  'dictsort',
])

/** Converts the value over which a loop iterates to a list. Undefined and `None` become an empty list. */
function toItems(value: Value, isUnpacked: boolean): Value {
  if (isUndefined(value) || isNull(value)) return toArray([])
  if (isText(value)) {
    const text = String(value.value)
    if (text.length > maxItems) throw new Error(tooLarge)
    return toArray(Array.from(text, toValue))
  }
  if (!isList(value)) return value
  const items = itemsOf(value)
  return toArray(
    isUnpacked ? items.map((item) => (isList(item) ? toArray(itemsOf(item)) : item)) : items,
  )
}

function compare(a: Value, b: Value): number {
  const [x, y] = [a.value as number | string, b.value as number | string]
  if (x === y) return 0
  return x < y ? -1 : 1
}

/** Python's `str.format`, without format specifications. */
function formatBraces(template: string, args: Value[]): string {
  let next = 0
  return template.replace(/\{\{|\}\}|\{(\w*)\}/g, (match, name: string | undefined) => {
    if (name === undefined) return match.slice(1)
    const index = name === '' ? next++ : Number(name)
    return toText(args[index] ?? toValue(''))
  })
}

/** Python's `%` on strings, for the conversions `%s` and `%d`. */
function formatPercent(template: string, value: Value): string {
  const values = isList(value) ? itemsOf(value) : [value]
  let next = 0
  return template.replace(/%[sd%]/g, (match) =>
    match === '%%' ? '%' : toText(values[next++] ?? toValue('')),
  )
}

function removeEnd(text: string, part: string, name: 'removeprefix' | 'removesuffix'): string {
  if (name === 'removeprefix') return text.startsWith(part) ? text.slice(part.length) : text
  return part !== '' && text.endsWith(part) ? text.slice(0, -part.length) : text
}

function search(text: string, part: string, name: 'find' | 'rfind' | 'count'): number {
  if (name === 'count') return part === '' ? text.length + 1 : text.split(part).length - 1
  return name === 'find' ? text.indexOf(part) : text.lastIndexOf(part)
}
