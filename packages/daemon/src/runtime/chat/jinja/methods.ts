import type { Budget } from './budget.ts'
import { alike, hasFrames, isSameText, unshield } from './shield.ts'
import { formatBraces, printArgument, removeEnd, search } from './text-functions.ts'
import {
  isList,
  isMapping,
  isText,
  itemsOf,
  toFunction,
  toText,
  toValue,
  type Value,
} from './values.ts'

type Call = (args: Value[]) => Value

/**
 * Finds a method of Python's strings, lists and dictionaries that the library lacks, or whose cost must be counted. In
 * Python, a method has precedence over a key with the same name.
 */
export function findMethod(owner: Value, name: string, budget: Budget): Value | undefined {
  const call = isText(owner)
    ? searching(owner, name, budget)
    : isList(owner)
      ? listMethod(itemsOf(owner), name, budget)
      : isMapping(owner)
        ? mappingMethod(owner.value as Map<string, Value>, name)
        : undefined
  if (call) return toFunction(call)
  return isMapping(owner) ? builtin(owner, name) : undefined
}

/** Calls a method that `findMethod` finds. */
export const callMethod = (
  owner: Value,
  name: string,
  args: Value[],
  budget: Budget,
): Value | undefined => (findMethod(owner, name, budget)?.value as Call | undefined)?.(args)

/** The library's own method. */
const builtin = (owner: Value, name: string): Value | undefined =>
  (owner as unknown as { builtins: Map<string, Value> }).builtins.get(name)

/** Finds a method of a string. A search for its first argument ignores where characters are from. */
function searching(owner: Value, name: string, budget: Budget): Call | undefined {
  const call = textMethod(owner, name, budget)
  if (!call || !searchingMethods.has(name)) return call
  return (args) => {
    const [text, ...others] = alikeValues(owner, args, budget)
    return (text === owner ? call : (textMethod(text, name, budget) ?? call))(others)
  }
}

const searchingMethods = new Set([
  ...['split', 'rsplit', 'replace', 'find', 'rfind', 'count', 'removeprefix', 'removesuffix'],
])

/** Returns a text, and the arguments of a method or filter that searches for its first argument. See `alike`. */
function alikeValues(owner: Value, args: readonly Value[], budget: Budget): [Value, ...Value[]] {
  const [part, ...others] = args
  if (!part || !isText(part) || !hasFrames(unshield(toText(part)))) return [owner, ...args]
  budget.spend(toText(owner).length >>> 9)
  const [text, sought] = alike(toText(owner), toText(part))
  return [toValue(text), toValue(sought), ...others]
}

function textMethod(owner: Value, name: string, budget: Budget): Call | undefined {
  const text = String(owner.value)
  const textOf = (value: Value | undefined) => printArgument(value, budget)
  switch (name) {
    case 'split':
    case 'rsplit':
    case 'splitlines':
      return counted(owner, name, ([separator]) => {
        const mark = separator && isText(separator) ? toText(separator) : ' '
        const parts = search(text, name === 'splitlines' ? '\n' : mark, 'count', budget)
        budget.spend(parts * stepsPerPart)
      })
    case 'replace':
      return counted(owner, name, ([part, by]) =>
        budget.countReplacement(text, textOf(part), textOf(by)),
      )
    case 'format':
      return (args) => toValue(formatBraces(text, args, budget))
    case 'isdigit':
      return () => toValue(/^\p{Nd}+$/u.test(text))
    case 'startswith':
    case 'endswith':
      return ([part]) => toValue(isAtEnd(text, name, part))
    case 'removeprefix':
    case 'removesuffix':
      return ([part]) => toValue(removeEnd(text, textOf(part), name))
    case 'find':
    case 'rfind':
    case 'count':
      return ([part]) => toValue(search(text, textOf(part), name, budget))
    default:
      return undefined
  }
}

/** Python's `startswith` and `endswith`. `part` is a string, or a tuple of strings of which one must match. */
function isAtEnd(text: string, name: 'startswith' | 'endswith', part: Value | undefined): boolean {
  if (part && isList(part)) return itemsOf(part).some((one) => isAtEnd(text, name, one))
  if (!part || !isText(part)) throw new Error(`the argument of ${name} must be a string`)
  const wanted = toText(part)
  const start = name === 'startswith' ? 0 : text.length - wanted.length
  return start >= 0 && isSameText(text.slice(start, start + wanted.length), wanted)
}

/** The number of steps for each part of a split string. Each part costs extra because it becomes an object. */
const stepsPerPart = 8

/** Returns the library's method, preceded by a call to `count`, which counts the method's cost. */
function counted(owner: Value, name: string, count: (args: Value[]) => void): Call | undefined {
  const method = builtin(owner, name)
  if (!method) return undefined
  return (args) => {
    count(args)
    return (method.value as Call)(args)
  }
}

function listMethod(items: Value[], name: string, budget: Budget): Call | undefined {
  switch (name) {
    case 'pop':
      return ([at]) => items.splice(at ? Number(at.value) : -1, 1)[0] ?? toValue(undefined)
    case 'append':
      return ([item]) => {
        if (item) items.push(item)
        return toValue(null)
      }
    case 'extend':
      return ([list]) => {
        const added = list && isList(list) ? [...itemsOf(list)] : []
        budget.spend(added.length)
        for (const item of added) items.push(item)
        return toValue(null)
      }
    default:
      return undefined
  }
}

function mappingMethod(entries: Map<string, Value>, name: string): Call | undefined {
  switch (name) {
    case 'update':
      return ([other]) => {
        if (other && isMapping(other)) {
          for (const [key, value] of other.value as Map<string, Value>) entries.set(key, value)
        }
        return toValue(null)
      }
    case 'pop':
      return ([key, fallback]) => {
        const found = entries.get(String(key?.value))
        entries.delete(String(key?.value))
        return found ?? fallback ?? toValue(undefined)
      }
    default:
      return undefined
  }
}
