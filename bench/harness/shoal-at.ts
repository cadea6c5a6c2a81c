import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import type { Machine } from '../../testing/neighbours.ts'
import { shoalProgram } from './shoal.ts'

export type Place = { machine: Machine; home: string; registryUrl: string }

/** Starts a `shoal` command on a simulated machine. The command's output can be watched while it runs. */
export function startShoalAt({ machine, home, registryUrl }: Place, ...words: string[]) {
  const startedAt = performance.now()
  const child = spawn(machine.program(process.execPath), [shoalProgram, ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, SHOAL_HOME: home, SHOAL_REGISTRY: registryUrl },
  })
  const endWithUs = () => child.kill('SIGKILL')
  process.once('exit', endWithUs)
  const closed = once(child, 'close').finally(() => process.off('exit', endWithUs))
  const output = text(child.stdout)
  const seconds = () => (performance.now() - startedAt) / 1000
  let reported = ''
  child.stderr.on('data', (more) => {
    reported += more
  })

  return {
    /**
     * Waits until the command has printed this text to stderr. Returns the number of seconds since the command was
     * started.
     */
    async waitForOutput(sought: string): Promise<number> {
      const { promise, resolve, reject } = Promise.withResolvers<number>()
      const check = () => reported.includes(sought) && resolve(seconds())
      child.stderr.on('data', check)
      child.once('close', () =>
        reject(new Error(`shoal exited without printing "${sought}": ${reported}`)),
      )
      check()
      return promise
    },

    async end(): Promise<{ seconds: number; output: string }> {
      const [code, killedBy] = await closed
      if (code !== 0) throw new Error(`shoal exited with ${code ?? killedBy}: ${reported}`)
      return { seconds: seconds(), output: await output }
    },

    async [Symbol.asyncDispose]() {
      child.kill('SIGINT')
      await closed
    },
  }
}
