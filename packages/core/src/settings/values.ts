/** Parsers that several settings share. */
import { formatBytes, parseSize } from '../units/index.ts'
import type { Parse } from './setting.ts'

/** The text that the user typed, without leading and trailing whitespace. */
export const word: Parse<string> = (text) => text.trim()

/** A whole number between `min` and `max`, inclusive. */
export function wholeNumber({ min, max }: { min: number; max?: number }): Parse<number> {
  const range = max === undefined ? `of at least ${min}` : `from ${min} to ${max}`
  return (text, refuse) => {
    const value = Number(text)
    const isInRange = value >= min && value <= (max ?? Number.MAX_SAFE_INTEGER)
    if (/^(?:\d|-[1-9])\d*$/.test(text) && isInRange) return value
    return refuse(`must be a whole number ${range}, not "${text}"`)
  }
}

/** A TCP port. 0 selects any free port. */
export const port = wholeNumber({ min: 0, max: 65_535 })

/** A size in bytes. */
export function size({ min, example }: { min: number; example: string }): Parse<number> {
  return (text, refuse) => {
    const bytes = parseSize(text)
    if (bytes === undefined) return refuse(`must be a size such as ${example}, not "${text}"`)
    if (bytes < min) return refuse(`must be at least ${formatBytes(min)}, not "${text}"`)
    return bytes
  }
}

/** One of the words in `values`. The result is the value for that word. */
export function choice<T>(values: Readonly<Record<string, T>>): Parse<T> {
  return (text, refuse) => {
    const found = Object.entries(values).find(([name]) => name === text)
    if (found) return found[1]
    return refuse(`must be one of ${Object.keys(values).join(', ')}, not "${text}"`)
  }
}

/** Comma-separated items. Empty items are ignored. */
export function list<T>(parseItem: Parse<T>): Parse<T[]> {
  return (text, refuse) =>
    text
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '')
      .map((item) => parseItem(item, refuse))
}
