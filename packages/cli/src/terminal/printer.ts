/** The output of a command: results go to stdout, everything else to stderr. */

import { escapeControls } from '@shoal/core/text'
import type { CliEnvironment } from '../environment.ts'
import { detectCapabilities, type TerminalCapabilities } from './capabilities.ts'
import { type Colors, createColors, toTerminal } from './colors.ts'
import type { Failure } from './failure.ts'
import type { GlobalOptions } from './global-options.ts'

/** Lines at the bottom of the terminal that are redrawn, such as a progress bar. */
export type LiveRegion = { clear(): void; draw(): void }

type Lines = string | readonly string[]

/**
 * Prints results to stdout and everything else to stderr, as lines or, under `--progress=json`, as events. Names and
 * messages may come from a hostile registry or file, so their control characters are removed, or escaped in JSON, and a
 * line stays one line.
 */
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
  /** Like `part`, but on stderr. */
  aside(text: string): void
  /** Prints the result of a command: one document under `--json`, otherwise lines. */
  answer(document: unknown, lines: () => Lines | Promise<Lines>): Promise<void>
  /** Prints a note of one line, except under `--quiet`. */
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

  const event = (value: object) =>
    void stderr.write(`${escapeControls(JSON.stringify(snakeCase(value)))}\n`)

  function writeDocument(document: unknown) {
    stdout.write(`${escapeControls(JSON.stringify(document, undefined, 2))}\n`)
  }

  function writeLine(line: string, type: 'note' | 'warning' = 'note') {
    if (!isForPrograms) writeLines([line])
    else if (line !== '') event({ type, message: line.trim() })
  }

  function writeLines(lines: readonly string[]) {
    region?.clear()
    stderr.write(lines.map(toLine).join(''))
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
      stdout.write(toLine(line))
    },
    part(text) {
      stdout.write(toTerminal(text))
    },
    aside(text) {
      stderr.write(toTerminal(text))
    },
    async answer(document, lines) {
      if (options.json) writeDocument(document)
      else for (const line of [await lines()].flat()) stdout.write(toLine(line))
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
      if (options.json) writeDocument({ error })
      if (isForPrograms) return event({ type: 'error', ...error })
      const mark = code === 'stopped' ? err.yellow('■') : err.red('✗')
      writeLines([
        `${mark} ${message}`,
        ...(hint ? hint.split('\n').map((line) => `  ${line}`) : []),
        ...(options.debug ? formatStack(failure).split('\n') : []),
      ])
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

const toLine = (text: string) => `${toTerminal(text.replace(/[\r\n]+/g, ' '))}\n`

function formatStack(error: Error): string {
  const cause = error.cause instanceof Error ? `\ncaused by ${formatStack(error.cause)}` : ''
  return `${error.stack ?? error.message}${cause}`
}
