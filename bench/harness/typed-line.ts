/**
 * Runs command lines as if a user had typed them into a shell, without the settings of the npm process that runs the
 * benchmark.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'

type Place = { folder: string; env: Record<string, string> }

/** Runs a command line, and returns how many seconds it took. If it fails, throws an error with its output. */
export async function runLine(line: string, place: Place): Promise<number> {
  const startedAt = performance.now()
  const shell = spawnShell(line, place)
  const [code, killedBy] = await shell.closed
  if (code !== 0) throw new Error(`${line} exited with ${code ?? killedBy}: ${shell.printed()}`)
  return (performance.now() - startedAt) / 1000
}

/** Starts a command line. Disposing of the returned object interrupts it, as Ctrl-C does. */
export function startLine(line: string, place: Place) {
  const startedAt = performance.now()
  const shell = spawnShell(line, place)
  return {
    /** Waits until the command line has printed this text. Returns the number of seconds since its start. */
    async untilPrinted(text: string): Promise<number> {
      while (!shell.printed().includes(text)) {
        const more = await Promise.race([shell.nextOutput(), shell.closed])
        if (more) throw new Error(`${line} ended without printing "${text}": ${shell.printed()}`)
      }
      return (performance.now() - startedAt) / 1000
    },
    async [Symbol.asyncDispose]() {
      shell.signal('SIGINT')
      await shell.closed
    },
  }
}

function spawnShell(line: string, { folder, env }: Place) {
  // In a separate process group, so that signals reach the processes that the shell has started.
  const child = spawn('sh', ['-c', line], {
    cwd: folder,
    env: { ...ownEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let printed = ''
  let next = Promise.withResolvers<void>()
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed += text
      next.resolve()
      next = Promise.withResolvers()
    })
  }
  const signal = (name: NodeJS.Signals) => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
      process.kill(-child.pid, name)
    }
  }
  const endWithUs = () => signal('SIGKILL')
  process.once('exit', endWithUs)
  return {
    closed: once(child, 'close').finally(() => process.off('exit', endWithUs)),
    printed: () => printed,
    nextOutput: () => next.promise,
    signal,
  }
}

/**
 * Returns this process's environment without the variables of npm and shoal. Otherwise, npm and shoal would use this
 * repository and the user's own data.
 */
function ownEnvironment(): NodeJS.ProcessEnv {
  const isOthers = /^(npm_|NPM_|SHOAL_|XDG_|NODE$|INIT_CWD$)/
  const kept = Object.entries(process.env).filter(([name]) => !isOthers.test(name))
  const path = (process.env.PATH ?? '').split(':').filter((one) => !one.includes('node_modules'))
  return { ...Object.fromEntries(kept), PATH: path.join(':') }
}
