/** Runs the CLI as a child process with its own home folder. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { shoalProgram } from '../../bench/harness/shoal.ts'

export type CommandOptions = {
  words: readonly string[]
  home: string
  env: Record<string, string>
  /** For self-tests: a program to run instead of the CLI. */
  program?: string | undefined
}

export type Ended = {
  /** The exit code; undefined if the command was killed. */
  exitCode: number | undefined
  signal: NodeJS.Signals | undefined
  stdout: string
  stderr: string
  seconds: number
}

/** Starts a command, which is killed when this process exits. */
export function startCommand({ words, home, env, program = shoalProgram }: CommandOptions) {
  const child = spawn(process.execPath, [program, ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: home,
    env: {
      PATH: process.env.PATH,
      TMPDIR: home,
      SHOAL_HOME: home,
      NO_COLOR: '1',
      NODE_NO_WARNINGS: '1',
      ...env,
    },
  })
  const endWithUs = () => child.kill('SIGKILL')
  process.once('exit', endWithUs)
  const output = Promise.all([text(child.stdout), text(child.stderr), closed(child)])
  return {
    child,
    output: output.finally(() => process.off('exit', endWithUs)),
  }
}

/** Runs a command until it ends. Does not throw if the command fails. */
export async function runCommand(
  options: CommandOptions & {
    /** The command is killed after this time. */
    timeoutMs: number
  },
): Promise<Ended> {
  const startedAt = performance.now()
  const { child, output } = startCommand(options)
  let isOverdue = false
  const overdue = setTimeout(() => {
    isOverdue = true
    child.kill('SIGKILL')
  }, options.timeoutMs)
  const [stdout, stderr] = await output
  clearTimeout(overdue)
  return {
    exitCode: isOverdue ? undefined : (child.exitCode ?? undefined),
    signal: isOverdue ? undefined : (child.signalCode ?? undefined),
    stdout,
    stderr,
    seconds: (performance.now() - startedAt) / 1000,
  }
}

async function closed(child: ChildProcess) {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'close')
}
