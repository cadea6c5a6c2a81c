import type { CliEnvironment, Environment, OutputStream } from '../environment.ts'
import type { GlobalOptions } from './global-options.ts'

/** What may be done on the terminal at hand, as the streams, the environment and the flags say. */
export type TerminalCapabilities = {
  hasColor: { stdout: boolean; stderr: boolean }
  /** Lines that are drawn over. */
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

/** https://no-color.org and https://force-color.org: a wish for none is stronger than a wish for some. */
function hasColor(stream: OutputStream, env: Environment, options: GlobalOptions): boolean {
  if (!options.color || env.NO_COLOR) return false
  if (env.FORCE_COLOR !== undefined) return isOn(env.FORCE_COLOR)
  return stream.isTTY === true && env.TERM !== 'dumb'
}

/** A variable that is set, and not to a word for no. An empty `FORCE_COLOR` or `CI` counts as unset. */
function isOn(value: string | undefined): boolean {
  return value !== undefined && !['', '0', 'false'].includes(value)
}
