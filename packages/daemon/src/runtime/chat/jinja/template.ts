/** Parses and renders models' chat templates, which are written in Jinja. */
import { Environment, parse, tokenize } from '@huggingface/jinja'
import { type Budget, type Limits, openBudget } from './budget.ts'
import { TemplateInterpreter } from './interpreter.ts'
import { formatTime } from './strftime.ts'
import { templateLimitError } from './template-limit.ts'
import { printArgument } from './text-functions.ts'
import { toFunction, toValue, type Value } from './values.ts'

/**
 * Limits for templates, because they are untrusted. A million steps take about a second. Most templates need fewer than
 * 100,000 steps for a conversation of 500 messages, but some iterate over all messages for each message.
 */
const defaultLimits: Limits = { maxSteps: 5_000_000, maxCharacters: 32 * 1024 * 1024 }
const maxRange = 100_000
const maxFormatLength = 1000

export type Template = {
  /**
   * Renders the template with these variables, which are JSON values or `ParsedJson`. `now` is the current time, which
   * the template can print.
   * @throws the template's own error (`raise_exception`), or an error that explains why rendering failed
   */
  render(variables: Record<string, unknown>, now: Date): string
}

/** Parses a template. Throws if it is not valid. */
export function parseTemplate(source: string, limits = defaultLimits): Template {
  const program = parse(tokenize(source, { lstrip_blocks: true, trim_blocks: true }))
  return {
    render(variables, now) {
      const environment = new Environment()
      const budget = openBudget(limits)
      for (const [name, value] of Object.entries({ ...constants, ...variables })) {
        environment.setVariable(name, toValue(value))
      }
      for (const [name, call] of Object.entries(globalFunctions(now, budget))) {
        if (!Object.hasOwn(variables, name)) environment.setVariable(name, toFunction(call))
      }
      const interpreter = new TemplateInterpreter(environment, budget)
      return String(interpreter.evaluate(program, environment).value)
    },
  }
}

const constants = { true: true, false: false, none: null, True: true, False: false, None: null }

const globalFunctions = (now: Date, budget: Budget): Record<string, (args: Value[]) => Value> => ({
  raise_exception([message]) {
    throw new Error(printArgument(message, budget))
  },
  range: (args) => toValue(range(...(args.map(({ value }) => value) as [number]))),
  strftime_now([format]) {
    const text = printArgument(format, budget)
    if (text.length > maxFormatLength)
      throw templateLimitError(`its time format is longer than ${maxFormatLength} characters`)
    return toValue(formatTime(now, text))
  },
})

/** Python's `range`, with a maximum length. */
function range(first: number, second?: number, step = 1): number[] {
  const [start, stop] = second === undefined ? [0, first] : [first, second]
  if (step === 0) throw new Error('range() has a step of 0')
  const length = Math.max(0, Math.ceil((stop - start) / step))
  if (length > maxRange) throw templateLimitError(`range() has more than ${maxRange} numbers`)
  return Array.from({ length }, (_, index) => start + index * step)
}
