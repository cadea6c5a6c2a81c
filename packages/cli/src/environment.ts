import type { Readable, Writable } from 'node:stream'

export type Environment = Readonly<Record<string, string | undefined>>

export type OutputStream = Writable & { isTTY?: boolean; columns?: number }
export type InputStream = Readable & { isTTY?: boolean }

/** What a command line runs in: the process, or a test's stand-in for one. */
export type CliEnvironment = {
  env: Environment
  stdin: InputStream
  stdout: OutputStream
  stderr: OutputStream
  /** Fires at the first Ctrl-C. */
  stopSignal: AbortSignal
  /** Of the machine, or what the system lets this process have of it. */
  memoryBytes: number
  /** Where to look for other programs that take the place of a daemon. Default: 11434; a test has its own. */
  daemonPort?: number
}
