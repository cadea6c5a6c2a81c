import type { Readable, Writable } from 'node:stream'

export type Environment = Readonly<Record<string, string | undefined>>

export type OutputStream = Writable & { isTTY?: boolean; columns?: number }
export type InputStream = Readable & { isTTY?: boolean }

/** The parts of the process that the CLI uses. Tests replace them. */
export type CliEnvironment = {
  env: Environment
  stdin: InputStream
  stdout: OutputStream
  stderr: OutputStream
  /** Fires at the first Ctrl-C or SIGTERM. */
  stopSignal: AbortSignal
  /** The machine's memory, or this process's memory limit if that is lower. */
  memoryBytes: number
  /** The daemon's default port; 11434 if omitted. Tests set another port, because any program may be using 11434. */
  daemonPort?: number
  /** A folder in the installation that `shoal upgrade` upgrades; this program's own folder if omitted. */
  programFolder?: string
}
