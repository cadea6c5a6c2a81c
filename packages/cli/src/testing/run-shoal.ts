/** Runs shoal as users do: in a separate process, with its own home. */
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

export const binPath = join(import.meta.dirname, '../../bin/shoal.js')

export type ShoalOptions = {
  /** `SHOAL_HOME`, from `makeHome`. */
  home: string
  /** Variables added to the environment, which contains none of the caller's own shoal settings. */
  env?: Record<string, string>
  /** The content of stdin. */
  input?: string
  cwd?: string
  /** The path of the Node executable that runs shoal. */
  node?: string
}

export type ShoalOutcome = { stdout: string; stderr: string; exitCode: number | null }

/** Runs a command line, and waits until the command ends. */
export async function runShoal(words: readonly string[], options: ShoalOptions) {
  const { child, outcome } = startShoal(words, options)
  child.stdin.end(options.input ?? '')
  return outcome
}

/** Starts a command that a test can observe, send signals to or send input to while it runs. */
export function startShoal(words: readonly string[], options: ShoalOptions) {
  const { home, env = {}, cwd = home, node = process.execPath } = options
  const child = spawn(node, [binPath, ...words], { cwd, env: { ...bareEnvironment(home), ...env } })
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on('close', resolve)
    child.on('error', reject)
  })
  const outcome = Promise.all([text(child.stdout), text(child.stderr), ended]).then(
    ([stdout, stderr, exitCode]): ShoalOutcome => ({ stdout, stderr, exitCode }),
  )
  return { child, outcome }
}

/** Creates a folder for `SHOAL_HOME`, which is deleted at the end of the scope. */
export async function makeHome() {
  const path = await mkdtemp(join(tmpdir(), 'shoal-home-'))
  return {
    path,
    models: join(path, 'data', 'models'),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  }
}

function bareEnvironment(home: string): NodeJS.ProcessEnv {
  const { PATH, TMPDIR } = process.env
  return { PATH, ...(TMPDIR && { TMPDIR }), SHOAL_HOME: home, NO_COLOR: '1' }
}
