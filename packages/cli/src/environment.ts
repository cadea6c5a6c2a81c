import type { Readable, Writable } from 'node:stream'

export type Environment = Readonly<Record<string, string | undefined>>

export type OutputStream = Writable & { isTTY?: boolean; columns?: number }
export type InputStream = Readable & { isTTY?: boolean }

/** The environment of a command line: the process, or a test's substitute. */
export type CliEnvironment = {
  env: Environment
  stdin: InputStream
  stdout: OutputStream
  stderr: OutputStream
  /** Fires at the first Ctrl-C. */
  stopSignal: AbortSignal
  /** The machine's memory, or this process's memory limit if that is lower. */
  memoryBytes: number
  /** The default port of the daemon, where another program may be running. Default: 11434; tests set their own. */
  daemonPort?: number
}
