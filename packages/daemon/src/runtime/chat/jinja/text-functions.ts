/** Python's string functions. Their cost is counted against the template's budget. */
import type { Budget } from './budget.ts'
import { isList, isMapping, itemsOf, toText, type Value } from './values.ts'

/** Converts a value to text as Python's `str` does. */
export function print(value: Value, budget: Budget): string {
  if (isList(value) || isMapping(value)) budget.countPrint(value)
  return toText(value)
}

/** Converts an argument to text. A missing argument is empty. */
export const printArgument = (value: Value | undefined, budget: Budget): string =>
  value ? print(value, budget) : ''

/** Python's `str.format`, without format specifications. */
export function formatBraces(template: string, args: Value[], budget: Budget): string {
  const texts = args.map((arg) => print(arg, budget))
  let next = 0
  return replaceMarks(template, /\{\{|\}\}|\{(\w*)\}/g, budget, ([match, name]) => {
    if (name === undefined) return match.slice(1)
    return texts[name === '' ? next++ : Number(name)] ?? ''
  })
}

/** Python's `%` on strings, for the conversions `%s` and `%d`. */
export function formatPercent(template: string, value: Value, budget: Budget): string {
  const texts = (isList(value) ? itemsOf(value) : [value]).map((one) => print(one, budget))
  let next = 0
  return replaceMarks(template, /%[sd%]/g, budget, ([match]) =>
    match === '%%' ? '%' : (texts[next++] ?? ''),
  )
}

function replaceMarks(
  text: string,
  pattern: RegExp,
  budget: Budget,
  by: (match: RegExpExecArray) => string,
): string {
  let [replaced, end] = ['', 0]
  for (const match of text.matchAll(pattern)) {
    budget.spend(1)
    replaced += text.slice(end, match.index) + by(match)
    budget.checkLength(replaced.length)
    end = match.index + match[0].length
  }
  return replaced + text.slice(end)
}

export function repeat(text: string, count: number, budget: Budget): string {
  budget.checkLength(text.length * count)
  return text.repeat(Math.max(0, count))
}

/** Python's `str.find`, `str.rfind` and `str.count`. */
export function search(
  text: string,
  part: string,
  name: 'find' | 'rfind' | 'count',
  budget: Budget,
): number {
  budget.countSearch(text, part)
  if (name === 'count') return part === '' ? text.length + 1 : text.split(part).length - 1
  return name === 'find' ? text.indexOf(part) : text.lastIndexOf(part)
}

export function removeEnd(
  text: string,
  part: string,
  name: 'removeprefix' | 'removesuffix',
): string {
  if (name === 'removeprefix') return text.startsWith(part) ? text.slice(part.length) : text
  return part !== '' && text.endsWith(part) ? text.slice(0, -part.length) : text
}
