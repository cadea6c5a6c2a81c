import type { CliEnvironment, Environment, OutputStream } from '../environment.ts'
import type { GlobalOptions } from './global-options.ts'

/** The capabilities of the terminal, according to the streams, the environment and the flags. */
export type TerminalCapabilities = {
  hasColor: { stdout: boolean; stderr: boolean }
  /** Whether lines can be redrawn. */
  canDraw: boolean
  canAsk: boolean
}

export function detectCapabilities(
  { env, stdin, stdout, stderr }: CliEnvironment,
  options: GlobalOptions,
): TerminalCapabilities {
  const isDumb = env.TERM === 'dumb'
  const isWatched = !isDumb && !isOn(env.CI)
  return {
    hasColor: {
      stdout: hasColor(stdout, env, options),
      stderr: hasColor(stderr, env, options),
    },
    canDraw: stderr.isTTY === true && isWatched,
    canAsk: stdin.isTTY === true && stderr.isTTY === true && isWatched && options.input,
  }
}

/** See https://no-color.org and https://force-color.org. `NO_COLOR` takes precedence. */
function hasColor(stream: OutputStream, env: Environment, options: GlobalOptions): boolean {
  if (!options.color || env.NO_COLOR) return false
  if (env.FORCE_COLOR !== undefined) return isOn(env.FORCE_COLOR)
  return stream.isTTY === true && env.TERM !== 'dumb'
}

/** Whether a variable is on: set, and not empty, `0` or `false`. */
function isOn(value: string | undefined): boolean {
  return value !== undefined && !['', '0', 'false'].includes(value)
}
