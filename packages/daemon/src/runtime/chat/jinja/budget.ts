import { templateLimitError } from './template-limit.ts'
import { isList, isMapping, isText, itemsOf, type Value } from './values.ts'

/** Limits for rendering a template, because templates are untrusted. */
export type Limits = {
  maxSteps: number
  /** The maximum number of characters in the output, and in each string that the template creates. */
  maxCharacters: number
}

/**
 * The maximum length of an indentation, which is repeated for each line, or of a `tojson` separator, which is repeated
 * for each item.
 */
const maxWidth = 1000

/**
 * Counts the cost of rendering a template, and throws if it exceeds a limit. The cost of each built-in JavaScript
 * function is counted before the call. During the call, the rendering thread cannot be terminated, and a very large
 * allocation would crash the process.
 */
export function openBudget({ maxSteps, maxCharacters }: Limits) {
  let steps = 0

  function spend(more: number) {
    steps += more
    if (steps > maxSteps) throw templateLimitError('it takes too many steps')
  }

  function checkLength(characters: number) {
    if (characters > maxCharacters) throw templateLimitError('its output is too large')
  }

  /** Counts the cost of a new value: one step for every 64 characters of a string or 8 items of a list. */
  function countNew({ value }: Value) {
    if (typeof value === 'string') {
      checkLength(value.length)
      spend(value.length >>> 6)
    } else if (Array.isArray(value)) spend(value.length >>> 3)
  }

  /**
   * Counts the cost of a search for `part` in `text`, which in the worst case compares each character of `text` with
   * each character of `part`.
   */
  function countSearch(text: string, part: string) {
    spend((text.length * part.length) / 4096)
  }

  /** Counts the cost of replacing each `part` in `text`. */
  function countReplacement(text: string, part: string, by: string) {
    countSearch(text, part)
    const growth = by.length - part.length
    if (text.length + text.length * Math.max(0, growth) <= maxCharacters) return
    const places = part === '' ? text.length + 1 : text.split(part).length - 1
    checkLength(text.length + places * growth)
  }

  function countIndent(text: string, width: number) {
    if (width > maxWidth) throw templateLimitError(`it indents by more than ${maxWidth} characters`)
    countReplacement(text, '\n', '\n'.padEnd(width + 1))
  }

  function countJoin(items: readonly Value[], separator: string) {
    let characters = 0
    for (const item of items) {
      if (!isText(item)) countPrint(item)
      characters += separator.length + (isText(item) ? String(item.value).length : 0)
    }
    checkLength(characters)
  }

  /** Checks the length of the separators of `tojson`, which are printed for each item. */
  function countSeparators(separators: Value | undefined) {
    const texts = separators && isList(separators) ? itemsOf(separators) : []
    if (texts.some(({ value }) => String(value).length > maxWidth))
      throw templateLimitError(`its tojson separators are longer than ${maxWidth} characters`)
  }

  /**
   * Counts the cost of printing a value. The printed text can be far longer than the value is in memory, because a list
   * may contain the same inner list many times.
   */
  function countPrint(value: Value) {
    let characters = 0
    const visit = (one: Value) => {
      spend(1)
      characters += isText(one) ? String(one.value).length : 4
      checkLength(characters)
      if (isList(one)) itemsOf(one).forEach(visit)
      else if (isMapping(one)) {
        for (const [key, member] of one.value as Map<string, Value>) {
          characters += key.length
          visit(member)
        }
      }
    }
    visit(value)
  }

  return {
    spend,
    checkLength,
    countNew,
    countSearch,
    countReplacement,
    countIndent,
    countJoin,
    countSeparators,
    countPrint,
  }
}

export type Budget = ReturnType<typeof openBudget>
