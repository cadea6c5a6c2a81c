/** Parses and renders models' chat templates, which are written in Jinja. */
import { Environment, parse, tokenize } from '@huggingface/jinja'
import { type Limits, TemplateInterpreter } from './interpreter.ts'
import { formatTime } from './strftime.ts'
import { toFunction, toValue, type Value } from './values.ts'

/**
 * Templates are limited, because rendering blocks the model's process, which also answers other requests. A million
 * steps take half a second. Most templates need fewer than 100,000 steps for a conversation of 500 messages, but some
 * iterate over all messages for each message.
 */
const limits: Limits = { maxSteps: 5_000_000, maxCharacters: 32 * 1024 * 1024 }
const maxRange = 100_000

export type Template = {
  /**
   * Renders the template with these variables. Functions among the variables are called with JavaScript values.
   * @throws the template's own error (`raise_exception`), or an error that explains why rendering failed
   */
  render(variables: Record<string, unknown>, now: Date): string
}

/** Parses a template. Throws if it is not valid. */
export function parseTemplate(source: string): Template {
  const program = parse(tokenize(source, { lstrip_blocks: true, trim_blocks: true }))
  return {
    render(variables, now) {
      const environment = new Environment()
      for (const [name, value] of Object.entries({ ...globals(now), ...variables })) {
        environment.setVariable(
          name,
          typeof value === 'function' ? toCallable(value) : toValue(value),
        )
      }
      return String(
        new TemplateInterpreter(environment, limits).evaluate(program, environment).value,
      )
    },
  }
}

const globals = (now: Date) => ({
  true: true,
  false: false,
  none: null,
  True: true,
  False: false,
  None: null,
  raise_exception(message: unknown) {
    throw new Error(String(message))
  },
  range,
  strftime_now: (format: string) => formatTime(now, format),
})

/** Converts a function whose arguments are JavaScript values. */
const toCallable = (call: (...args: never[]) => unknown): Value =>
  toFunction((args) => toValue(call(...(args.map(({ value }) => value) as never[]))))

/** Python's `range`, with a maximum length. */
function range(first: number, second?: number, step = 1): number[] {
  const [start, stop] = second === undefined ? [0, first] : [first, second]
  if (step === 0) throw new Error('range() has a step of 0')
  const length = Math.max(0, Math.ceil((stop - start) / step))
  if (length > maxRange) throw new Error(`range() has more than ${maxRange} numbers`)
  return Array.from({ length }, (_, index) => start + index * step)
}
