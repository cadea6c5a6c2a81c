/** What a command says: results go to stdout, everything else to stderr. */

import type { Surroundings } from '../surroundings.ts'
import { type Capabilities, capabilitiesOf } from './capabilities.ts'
import { type Colors, createColors } from './colors.ts'
import type { Failure } from './failure.ts'
import type { GlobalOptions } from './global-options.ts'

/** Lines at the bottom of the terminal that are drawn again and again, such as a progress bar. */
export type LiveRegion = { clear(): void; draw(): void }

type Lines = string | readonly string[]

export type Printer = ReturnType<typeof createPrinter>

export function createPrinter(surroundings: Surroundings, options: GlobalOptions) {
  const { stdout, stderr } = surroundings
  const can: Capabilities = capabilitiesOf(surroundings, options)
  const out: Colors = createColors(can.hasColor.stdout)
  const err: Colors = createColors(can.hasColor.stderr)
  const isForPrograms = options.progress === 'json'
  let region: LiveRegion | undefined

  /** One line of the NDJSON that stderr is under `--progress=json`; its members are named as in `--json`. */
  const event = (value: object) => void stderr.write(`${JSON.stringify(snakeCase(value))}\n`)

  function tell(line: string, type: 'note' | 'warning' = 'note') {
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
    /** The width of what results are written to; undefined where that has none. */
    columns: stdout.isTTY ? stdout.columns : undefined,
    event,

    result(line: string) {
      stdout.write(`${line}\n`)
    },
    /** A piece of a result that comes bit by bit. */
    part(text: string) {
      stdout.write(text)
    },
    /** The answer of a command: one document under `--json`, and lines otherwise. */
    async answer(document: unknown, lines: () => Lines | Promise<Lines>) {
      if (options.json) stdout.write(`${JSON.stringify(document, undefined, 2)}\n`)
      else for (const line of [await lines()].flat()) stdout.write(`${line}\n`)
    },
    note(line: string) {
      if (!options.quiet) tell(line)
    },
    detail(line: string) {
      if (options.verbose) tell(err.dim(line))
    },
    success(line: string) {
      if (!options.quiet) tell(`${err.green('✓')} ${line}`)
    },
    /** Something that has to be known, also under `--quiet`. */
    warn(line: string) {
      tell(`${err.yellow('!')} ${line}`, 'warning')
    },
    fail(failure: Failure) {
      const { code, message, hint, members } = failure
      const error = { code, message, ...(hint && { hint }), ...members }
      if (options.json) stdout.write(`${JSON.stringify({ error }, undefined, 2)}\n`)
      if (isForPrograms) return event({ type: 'error', ...error })
      const mark = code === 'stopped' ? err.yellow('■') : err.red('✗')
      tell([`${mark} ${message}`, ...(hint ? indented(hint) : [])].join('\n'))
      if (options.debug) tell(stackOf(failure))
    },
    /** Keeps `shown` below whatever is printed meanwhile; undefined when it is over. */
    setRegion(shown: LiveRegion | undefined) {
      region = shown
    },
  }
}

/** Our own names are camelCase; the members that programs read are snake_case, at any depth. */
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

function stackOf(error: Error): string {
  const cause = error.cause instanceof Error ? `\ncaused by ${stackOf(error.cause)}` : ''
  return `${error.stack ?? error.message}${cause}`
}
