/** Chat templates in Jinja, as models contain them. */
import { Environment, parse, tokenize } from '@huggingface/jinja'
import { type Limits, TemplateInterpreter } from './interpreter.ts'
import { formatTime } from './strftime.ts'
import { toFunction, toValue, type Value } from './values.ts'

/**
 * A template is rendered in the model's process, which answers other requests, too. A million steps take half a second.
 * Most templates take less than 100,000 for a conversation of 500 messages, but some go through all messages for each.
 */
const limits: Limits = { maxSteps: 5_000_000, maxCharacters: 32 * 1024 * 1024 }
const maxRange = 100_000

export type Template = {
  /**
   * Renders the template with these variables. Functions among them are called with JavaScript's values.
   * @throws the template's own error (`raise_exception`), or why it cannot be rendered
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

/** Converts a function, which gets JavaScript's values as arguments. */
const toCallable = (call: (...args: never[]) => unknown): Value =>
  toFunction((args) => toValue(call(...(args.map(({ value }) => value) as never[]))))

/** Python's `range`, of limited length. */
function range(first: number, second?: number, step = 1): number[] {
  const [start, stop] = second === undefined ? [0, first] : [first, second]
  if (step === 0) throw new Error('range() has a step of 0')
  const length = Math.max(0, Math.ceil((stop - start) / step))
  if (length > maxRange) throw new Error(`range() has more than ${maxRange} numbers`)
  return Array.from({ length }, (_, index) => start + index * step)
}
