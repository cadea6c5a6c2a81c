import type { Budget } from './budget.ts'
import { callMethod } from './methods.ts'
import { print, printArgument } from './text-functions.ts'
import {
  isList,
  isMapping,
  isNull,
  isText,
  isUndefined,
  itemsOf,
  toArray,
  toFloat,
  toText,
  toValue,
  type Value,
} from './values.ts'

/** A filter's positional arguments, in order, and its named arguments. */
export type Arguments = { positional: Value[]; named: Map<string, Value> }

/** Charges the cost of a filter to the budget, before the filter is applied. */
export function countFilter(
  operand: Value,
  name: string,
  { positional, named }: Arguments,
  budget: Budget,
) {
  const [first, second] = positional
  const textOf = (value: Value | undefined) => printArgument(value, budget)
  switch (name) {
    case 'tojson':
      budget.countPrint(operand)
      budget.countSeparators(named.get('separators'))
      return budget.countIndent('', Number(named.get('indent')?.value ?? 0))
    case 'replace':
      return budget.countReplacement(print(operand, budget), textOf(first), textOf(second))
    case 'indent':
      return budget.countIndent(
        print(operand, budget),
        Number((first ?? named.get('width'))?.value ?? 4),
      )
    case 'join': {
      const items = isList(operand) ? itemsOf(operand) : []
      return budget.countJoin(items, textOf(first ?? named.get('separator')))
    }
    default:
      return budget.spend(countItems(operand) >>> 3)
  }
}

/** Applies a filter that the library lacks. Returns undefined if the library must apply the filter. */
export function filter(
  operand: Value,
  name: string,
  { positional, named }: Arguments,
  budget: Budget,
): Value | undefined {
  const [argument] = positional
  if (isUndefined(operand) || isNull(operand)) return filterEmpty(operand, name)
  switch (name) {
    case 'string':
      return toValue(print(operand, budget))
    case 'count':
      return toValue(countItems(operand))
    case 'replace':
      return isText(operand)
        ? callMethod(operand, name, [...positional, ...named.values()], budget)
        : undefined
    case 'list':
      if (isText(operand)) return toCharacters(operand, budget)
      return isMapping(operand) ? toArray(keysOf(operand).map(toValue)) : undefined
    case 'round':
      return typeof operand.value === 'number'
        ? toFloat(round(operand.value, Number(argument?.value ?? 0)))
        : undefined
    case 'min':
    case 'max': {
      if (!isList(operand)) return undefined
      const sign = name === 'min' ? 1 : -1
      const sorted = itemsOf(operand).toSorted((a, b) => sign * compare(a, b))
      return sorted[0] ?? toValue(undefined)
    }
    default:
      return undefined
  }
}

/** Applies a filter to an undefined value or `None`, which count as empty. */
function filterEmpty(operand: Value, name: string): Value | undefined {
  if (name === 'string') return toValue(toText(operand))
  if (emptyTexts.has(name)) return toValue(isNull(operand) && name !== 'trim' ? 'None' : '')
  if (emptyLists.has(name)) return toArray([])
  if (name === 'length' || name === 'count') return toValue(0)
  return name === 'first' || name === 'last' ? toValue(undefined) : undefined
}

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

const keysOf = ({ value }: Value) => [...(value as Map<string, Value>).keys()]

/** Converts a string to a list of its characters. */
export function toCharacters(text: Value, budget: Budget): Value {
  budget.spend(toText(text).length)
  return toArray(Array.from(toText(text), toValue))
}

export function countItems({ value }: Value): number {
  if (value instanceof Map) return value.size
  return typeof value === 'string' || Array.isArray(value) ? value.length : 0
}

export function compare(a: Value, b: Value): number {
  const [x, y] = [a.value as number | string, b.value as number | string]
  if (x === y) return 0
  return x < y ? -1 : 1
}

function round(value: number, digits: number): number {
  const factor = 10 ** digits
  return Math.round(value * factor) / factor
}
