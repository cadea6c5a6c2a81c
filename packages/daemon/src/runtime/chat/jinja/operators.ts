import type { Budget } from './budget.ts'
import { isSameText, unshield } from './shield.ts'
import { formatPercent, print, repeat } from './text-functions.ts'
import {
  isInteger,
  isList,
  isMapping,
  isNull,
  isText,
  isUndefined,
  itemsOf,
  toText,
  toValue,
  type Value,
} from './values.ts'

const isEmpty = (value: Value) => isUndefined(value) || isNull(value)

/**
 * Applies an operator to two values. Undefined values and `None` count as empty. Returns undefined if the library must
 * apply the operator.
 */
export function operate(operator: string, a: Value, b: Value, budget: Budget): Value | undefined {
  switch (operator) {
    case '~':
      return toValue(print(a, budget) + print(b, budget))
    case '+':
      if (isEmpty(a) && (isText(b) || isList(b))) return b
      if (isEmpty(b) && (isText(a) || isList(a))) return a
      return isText(a) || isText(b) ? toValue(print(a, budget) + print(b, budget)) : undefined
    case '*':
      if (!isText(a) || !isInteger(b)) return undefined
      return toValue(repeat(toText(a), Number(b.value), budget))
    case '%':
      return isText(a) ? toValue(formatPercent(toText(a), b, budget)) : undefined
    case '==':
    case '!=':
      return isText(a) && isText(b) ? toValue(isSame(a, b) === (operator === '==')) : undefined
    case '<':
    case '>':
    case '<=':
    case '>=':
      return isEmpty(a) || isEmpty(b) ? toValue(false) : undefined
    case 'in':
    case 'not in': {
      const found = isIn(a, b, budget)
      return found === undefined ? undefined : toValue(found === (operator === 'in'))
    }
    default:
      return undefined
  }
}

function isIn(item: Value, container: Value, budget: Budget): boolean | undefined {
  if (isEmpty(container)) return false
  if (isMapping(container) && !isText(item)) {
    return (container.value as Map<string, Value>).has(String(item.value))
  }
  if (isList(container)) {
    budget.spend(itemsOf(container).length)
    return isText(item) ? itemsOf(container).some((one) => isSame(one, item)) : undefined
  }
  if (isEmpty(item)) return false
  if (!isText(container)) return undefined
  budget.countSearch(toText(container), toText(item))
  return isText(item) ? unshield(toText(container)).includes(unshield(toText(item))) : undefined
}

const isSame = (value: Value, text: Value) =>
  isText(value) && isSameText(toText(value), toText(text))
