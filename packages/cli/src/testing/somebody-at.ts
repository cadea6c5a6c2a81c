import type { ChildProcess } from 'node:child_process'
import { expect } from 'vitest'
import type { Machine } from '../../../../testing/neighbours.ts'
import { makeHome, startShoal } from './run-shoal.ts'

export type Somebody = Awaited<ReturnType<typeof somebodyAt>>

/** Creates a user with their own machine and home. Processes that the user starts end with the scope. */
export async function somebodyAt(machine: Machine, registryUrl: string) {
  await using stack = new AsyncDisposableStack()
  const home = stack.use(await makeHome())
  const options = {
    home: home.path,
    env: { SHOAL_REGISTRY: registryUrl },
    node: machine.program(process.execPath),
  }
  const kept = stack.move()

  function start(...words: string[]) {
    const { child, outcome } = startShoal(words, options)
    kept.defer(async () => {
      child.kill('SIGKILL')
      await outcome
    })
    return { child, outcome }
  }

  return {
    folder: home.path,
    start,

    /** Runs a command, which must succeed, and returns its stdout. */
    async run(...words: string[]): Promise<string> {
      const { stdout, stderr, exitCode } = await start(...words).outcome
      expect(exitCode, stderr).toBe(0)
      return stdout
    },

    /** Starts a long-running command, and waits for `output`. The command ends with the scope. */
    async startUntil(output: string, ...words: string[]) {
      const { child, outcome } = start(...words)
      const ended = outcome.then(({ stderr }) => Promise.reject(new Error(`it exited: ${stderr}`)))
      await Promise.race([untilPrinted(child, output), ended])
      return {
        async [Symbol.asyncDispose]() {
          child.kill('SIGINT')
          await outcome
        },
      }
    },

    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

function untilPrinted({ stdout, stderr }: ChildProcess, words: string): Promise<void> {
  let output = ''
  return new Promise((resolve) => {
    for (const stream of [stdout, stderr]) {
      stream?.on('data', (text) => {
        output += text
        if (output.includes(words)) resolve()
      })
    }
  })
}
