/** The output of a command: results go to stdout, everything else to stderr. */

import type { CliEnvironment } from '../environment.ts'
import { detectCapabilities, type TerminalCapabilities } from './capabilities.ts'
import { type Colors, createColors } from './colors.ts'
import type { Failure } from './failure.ts'
import type { GlobalOptions } from './global-options.ts'

/** Lines at the bottom of the terminal that are redrawn, such as a progress bar. */
export type LiveRegion = { clear(): void; draw(): void }

type Lines = string | readonly string[]

/** Prints results to stdout and everything else to stderr, as lines or, under `--progress=json`, as events. */
export interface Printer {
  readonly can: TerminalCapabilities
  /** Whether `--json` is given. */
  readonly isJson: boolean
  /** Whether `--quiet` is given. */
  readonly isQuiet: boolean
  /** Whether stderr is NDJSON, as requested by `--progress=json`. */
  readonly isForPrograms: boolean
  /** Colors of stdout. */
  readonly out: Colors
  /** Colors of stderr. */
  readonly err: Colors
  readonly stderr: CliEnvironment['stderr']
  /** The width of the terminal on stdout; undefined if stdout is not a terminal. */
  readonly columns: number | undefined
  /** Writes one line of NDJSON to stderr. Its member names become snake_case, as under `--json`. */
  event(value: object): void
  /** Prints a line of the result. */
  result(line: string): void
  /** Prints a part of a streamed result, without adding a newline. */
  part(text: string): void
  /** Prints the result of a command: one document under `--json`, otherwise lines. */
  answer(document: unknown, lines: () => Lines | Promise<Lines>): Promise<void>
  /** Prints a note, except under `--quiet`. */
  note(line: string): void
  /** Prints details, but only under `--verbose`. */
  detail(line: string): void
  /** Prints a note with a check mark. */
  success(line: string): void
  /** Prints a warning, even under `--quiet`. */
  warn(line: string): void
  /**
   * Prints the error that ends a command to stderr, with its stack trace under `--debug`. Under `--json`, also prints
   * the error to stdout, as a document.
   */
  fail(failure: Failure): void
  /** Keeps `shown` below all other output until `setRegion(undefined)` is called. */
  setRegion(shown: LiveRegion | undefined): void
}

export function createPrinter(environment: CliEnvironment, options: GlobalOptions): Printer {
  const { stdout, stderr } = environment
  const can: TerminalCapabilities = detectCapabilities(environment, options)
  const out: Colors = createColors(can.hasColor.stdout)
  const err: Colors = createColors(can.hasColor.stderr)
  const isForPrograms = options.progress === 'json'
  let region: LiveRegion | undefined

  const event = (value: object) => void stderr.write(`${JSON.stringify(snakeCase(value))}\n`)

  function writeLine(line: string, type: 'note' | 'warning' = 'note') {
    if (isForPrograms) return event({ type, message: line.trim() })
    region?.clear()
    stderr.write(`${line}\n`)
    region?.draw()
  }

  return {
    can,
    isJson: options.json === true,
    isQuiet: options.quiet === true,
    isForPrograms,
    out,
    err,
    stderr,
    columns: stdout.isTTY ? stdout.columns : undefined,
    event,

    result(line) {
      stdout.write(`${line}\n`)
    },
    part(text) {
      stdout.write(text)
    },
    async answer(document, lines) {
      if (options.json) stdout.write(`${JSON.stringify(document, undefined, 2)}\n`)
      else for (const line of [await lines()].flat()) stdout.write(`${line}\n`)
    },
    note(line) {
      if (!options.quiet) writeLine(line)
    },
    detail(line) {
      if (options.verbose) writeLine(err.dim(line))
    },
    success(line) {
      if (!options.quiet) writeLine(`${err.green('✓')} ${line}`)
    },
    warn(line) {
      writeLine(`${err.yellow('!')} ${line}`, 'warning')
    },
    fail(failure) {
      const { code, message, hint, members } = failure
      const error = { code, message, ...(hint && { hint }), ...members }
      if (options.json) stdout.write(`${JSON.stringify({ error }, undefined, 2)}\n`)
      if (isForPrograms) return event({ type: 'error', ...error })
      const mark = code === 'stopped' ? err.yellow('■') : err.red('✗')
      writeLine([`${mark} ${message}`, ...(hint ? indented(hint) : [])].join('\n'))
      if (options.debug) writeLine(formatStack(failure))
    },
    setRegion(shown) {
      region = shown
    },
  }
}

/** Converts camelCase member names to snake_case, at any depth, for programs. */
function snakeCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeCase)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      snakeCase(member),
    ]),
  )
}

const indented = (text: string) => text.split('\n').map((line) => `  ${line}`)

function formatStack(error: Error): string {
  const cause = error.cause instanceof Error ? `\ncaused by ${formatStack(error.cause)}` : ''
  return `${error.stack ?? error.message}${cause}`
}
