import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { recorded } from './fixture.ts'
import { until } from './until.ts'

const { root, registryUrl } = recorded
type Words = readonly string[]

/**
 * Returns functions that run the CLI of a checkout. The processes started by these functions are killed when this
 * process exits.
 */
export function runVersion(checkout: string) {
  const bin = join(checkout, 'packages/cli/bin/shoal.js')
  const env = {
    PATH: process.env.PATH,
    SHOAL_HOME: join(root, 'home'),
    SHOAL_REGISTRY: registryUrl,
    SHOAL_THREADS: '1',
    NO_COLOR: '1',
  }
  const started: ChildProcess[] = []
  process.once('exit', () => {
    for (const child of started) child.kill('SIGKILL')
  })

  function start(words: Words, input = ''): ChildProcess {
    const log = openSync(join(root, 'log'), 'a')
    const stdio = ['pipe' as const, log, log]
    const child = spawn(process.execPath, [bin, ...words], { cwd: root, env, stdio })
    started.push(child)
    closeSync(log)
    child.stdin?.end(input)
    return child
  }

  async function kill(child: ChildProcess) {
    child.kill('SIGKILL')
    const [code] = await once(child, 'close')
    if (code !== null)
      throw new Error(`the process exited with ${code} before it was killed: see ${root}/log`)
  }

  return {
    env,
    start,
    kill,

    async shoal(words: Words, input?: string) {
      const [code] = await once(start(words, input), 'close')
      if (code !== 0) throw new Error(`${words.join(' ')} exited with ${code}: see ${root}/log`)
    },

    /** Starts a command, and kills it as soon as `isFarEnough` resolves to true. */
    async killWhen(words: Words, isFarEnough: () => Promise<boolean>) {
      const child = start(words)
      await until(isFarEnough)
      await kill(child)
    },

    help: async (words: Words) =>
      execFileSync(process.execPath, [bin, ...words], { env, encoding: 'utf8' }),
  }
}

type Answer = { access_token: string; key: string }

export async function call(method: string, path: string, token?: string, body?: object) {
  const headers = {
    ...(body && { 'content-type': 'application/json' }),
    ...(token && { authorization: `Bearer ${token}` }),
  }
  const init = { method, headers, ...(body && { body: JSON.stringify(body) }) }
  const response = await fetch(registryUrl + path, init)
  if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`)
  return (response.status === 204 ? {} : await response.json()) as Answer
}

/** Resolves when the server at `url` responds. */
export const untilThere = (url: string) =>
  until(async () => {
    try {
      return (await fetch(`${url}/healthz`)).ok
    } catch (error) {
      if (error instanceof TypeError) return false // not listening yet
      throw error
    }
  })
