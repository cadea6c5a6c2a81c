/** Describes the ways in which a command may end, and determines how a command has ended. */

/**
 * The exit code for each error code in the output of `--json`. `failed` is not listed, because no network fault may
 * cause it.
 */
export const exitCodes = {
  not_found: 3,
  not_signed_in: 4,
  not_permitted: 5,
  unreachable: 6,
  verification_failed: 7,
  tls_failed: 9,
  proxy_failed: 10,
  not_a_registry: 11,
  redirect_refused: 12,
  registry_failed: 13,
  rate_limited: 14,
} as const

export type Code = keyof typeof exitCodes

/** Either the file exists with the correct SHA-256, or there is no file and the command reports the cause. */
export type End = 'correct bytes' | Cause

export type Cause = {
  code: Code
  reason: string | undefined
}

/** The observable results of a command. */
export type Outcome = {
  /** The exit code; undefined if the command had to be killed. */
  exitCode: number | undefined
  signal: NodeJS.Signals | undefined
  stdout: string
  stderr: string
  seconds: number
  /** The state of the file under its final name: on this disk after a pull, in the registry after a push. */
  file: 'none' | 'correct bytes' | 'wrong bytes'
}

/** Returns how a command ended, or a description of the problem if it ended in a way that must never happen. */
export function classify(outcome: Outcome): End | { problem: string } {
  const { exitCode, signal, stdout, stderr, seconds, file } = outcome
  if (file === 'wrong bytes') return { problem: 'wrong bytes under the final name' }
  if (exitCode === undefined && signal === undefined) {
    return { problem: `no end within ${seconds.toFixed(0)} s` }
  }
  if (signal !== undefined) return { problem: `terminated by ${signal}` }
  const trace = /^\s+at .+:\d+:\d+\)?$/m.exec(stderr + stdout)
  if (trace) return { problem: `a stack trace: ${trace[0].trim()}` }
  if (exitCode === 0) {
    return file === 'correct bytes' ? 'correct bytes' : { problem: 'exit 0 without the file' }
  }
  if (file !== 'none') return { problem: `exit ${exitCode} with the file under its final name` }
  return causeIn(stdout, exitCode as number, stderr)
}

function causeIn(stdout: string, exitCode: number, stderr: string): Cause | { problem: string } {
  const error = errorIn(stdout)
  if (!error) return { problem: `exit ${exitCode} without JSON: ${lastLine(stderr || stdout)}` }
  const { code, reason, message, hint } = error
  const seen = `${code}${reason ? ` (${reason})` : ''}, exit ${exitCode}: ${message}`
  if (!(code in exitCodes)) return { problem: `unexpected error code: ${seen}` }
  if (exitCodes[code as Code] !== exitCode) return { problem: `wrong exit code: ${seen}` }
  const needsHint = exitCode > exitCodes.not_permitted // errors for a refusal by the registry need no hint
  if (!message || (needsHint && !hint)) return { problem: `no message or no hint: ${seen}` }
  return { code: code as Code, reason }
}

type Report = { code: string; reason?: string; message?: string; hint?: string }

function errorIn(stdout: string): Report | undefined {
  try {
    return (JSON.parse(stdout) as { error?: Report }).error
  } catch {
    return undefined // reported as a problem
  }
}

const lastLine = (text: string) => text.trim().split('\n').at(-1)?.slice(0, 200) ?? ''

export const isProblem = (end: End | { problem: string }): end is { problem: string } =>
  typeof end === 'object' && 'problem' in end

/** Formats an end for the table. */
export function inWords(end: End): string {
  if (end === 'correct bytes') return 'correct bytes'
  return end.reason === undefined ? end.code : `${end.code} (${end.reason})`
}
