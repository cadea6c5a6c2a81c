import type { Readable, Writable } from 'node:stream'

export type Environment = Readonly<Record<string, string | undefined>>

export type OutputStream = Writable & { isTTY?: boolean; columns?: number }
export type InputStream = Readable & { isTTY?: boolean }

/** What a command line uses of its process. Tests substitute their own. */
export type CliEnvironment = {
  env: Environment
  stdin: InputStream
  stdout: OutputStream
  stderr: OutputStream
  /** Fires at the first Ctrl-C or SIGTERM. */
  stopSignal: AbortSignal
  /** The machine's memory, or this process's memory limit if that is lower. */
  memoryBytes: number
  /** The daemon's default port. Default: 11434. Tests set another one, because any program may be using 11434. */
  daemonPort?: number
}
