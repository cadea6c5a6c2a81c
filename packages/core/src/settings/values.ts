/** The kinds of values that several settings take. */
import { parseSize } from '../units/index.ts'
import type { Parse } from './setting.ts'

/** Taken as it was typed, without the blanks around it. */
export const word: Parse<string> = (text) => text.trim()

/** A whole number in the range, both ends included. */
export function wholeNumber({ min, max }: { min: number; max?: number }): Parse<number> {
  const range = max === undefined ? `from ${min} on` : `from ${min} to ${max}`
  return (text, refuse) => {
    const value = Number(text)
    const isInRange = value >= min && value <= (max ?? Number.MAX_SAFE_INTEGER)
    if (/^\d+$/.test(text) && isInRange) return value
    return refuse(`is a number ${range}, not "${text}"`)
  }
}

/** 0 takes a port that the system gives. */
export const port = wholeNumber({ min: 0, max: 65_535 })

/** In bytes. */
export function size({ min, example }: { min: number; example: string }): Parse<number> {
  return (text, refuse) => {
    const bytes = parseSize(text)
    if (bytes !== undefined && bytes >= min) return bytes
    return refuse(`is a size such as ${example}, not "${text}"`)
  }
}

/** One of some words, each with what it stands for. */
export function choice<T>(values: Readonly<Record<string, T>>): Parse<T> {
  return (text, refuse) => {
    const found = Object.entries(values).find(([name]) => name === text)
    if (found) return found[1]
    return refuse(`is one of ${Object.keys(values).join(', ')}, not "${text}"`)
  }
}

/** Items between commas, without empty ones. */
export function list<T>(parseItem: Parse<T>): Parse<T[]> {
  return (text, refuse) =>
    text
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '')
      .map((item) => parseItem(item, refuse))
}
