const dayMs = 24 * 3_600e3
const yearMs = 365 * dayMs

const unitsMs = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3, // the micro sign, U+00B5
  μs: 1e-3, // the Greek letter, U+03BC
  ms: 1,
  s: 1e3,
  sec: 1e3,
  m: 60e3,
  min: 60e3,
  h: 3_600e3,
  d: dayMs,
  w: 7 * dayMs,
  y: yearMs,
}

type DurationUnit = keyof typeof unitsMs

/** Durations of more than a hundred years count as infinite. */
const maxMs = 100 * yearMs

const count = '(?:\\d+(?:\\.\\d*)?|\\.\\d+)'
const unit = '(?:ns|us|µs|μs|ms|sec|s|min|m|h|d|w|y)'
const bareNumber = new RegExp(`^${count}$`)
const duration = new RegExp(`^(?:${count}${unit})+$`)
const parts = new RegExp(`(${count})(${unit})`, 'g')

/**
 * Parses durations such as `5m`, `1h30m`, `90d`, `2w` or `1.5h` into milliseconds. The format is Go's
 * (https://pkg.go.dev/time#ParseDuration) with the additional units `sec`, `min`, `d`, `w` and `y`. Returns `Infinity`
 * for `forever`, `never` and durations of more than a hundred years, and undefined if `text` is not a valid duration. A
 * number without a unit is interpreted in `bareUnit`; if `bareUnit` is not given, such a number is invalid.
 */
export function parseDuration(text: string, bareUnit?: DurationUnit): number | undefined {
  const trimmed = text.trim()
  if (trimmed === 'forever' || trimmed === 'never') return Number.POSITIVE_INFINITY
  const typed = bareUnit && bareNumber.test(trimmed) ? trimmed + bareUnit : trimmed
  if (!duration.test(typed)) return undefined
  const ms = Array.from(typed.matchAll(parts)).reduce(
    (sum, [, number, name]) => sum + Number(number) * unitsMs[name as DurationUnit],
    0,
  )
  return bounded(ms)
}

const bounded = (ms: number) => (ms > maxMs ? Number.POSITIVE_INFINITY : ms)

/**
 * Parses how long an idle model stays loaded: a duration or a number of seconds. Returns milliseconds, or undefined if
 * the value is not valid. A negative value means forever, as in Ollama's API.
 */
export function parseKeepAlive(time: string | number): number | undefined {
  if (typeof time === 'number') return time < 0 ? Number.POSITIVE_INFINITY : bounded(time * 1000)
  const [, sign, rest = ''] = /^\s*([+-]?)(.*)$/s.exec(time) ?? []
  const ms = parseDuration(rest, 's')
  return sign === '-' && ms !== undefined && ms > 0 ? Number.POSITIVE_INFINITY : ms
}
