import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.ts'
import { findProgram } from './programs.ts'
import { removeDirectorySync } from './remove-directory.ts'

export type RedisServer = {
  url: string
  /** Starts the server again after `kill`. Its data is lost. */
  start(): Promise<void>
  /** Suspends the server (SIGSTOP): connections stay open, but no command is answered until `resume`. */
  pause(): void
  resume(): void
  /** Kills the server (SIGKILL), as in a crash. */
  kill(): Promise<void>
  stop(): Promise<void>
  /** Kills the server and removes its folder synchronously, for `exit` handlers. */
  abandon(): void
}

/** Starts a Redis server that keeps everything in memory. Returns undefined if Redis is not installed. */
export async function startRedis(): Promise<RedisServer | undefined> {
  const program = findProgram('redis-server')
  if (!program) return undefined
  const directory = mkdtempSync(join(tmpdir(), 'shoal-redis-'))
  const port = await freePort()
  const flags = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']

  const launch = async () => {
    const server = spawn(program, [...flags, '--dir', directory], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    await isReady(server)
    return server
  }
  let server = await launch()
  const end = async (signal: 'SIGTERM' | 'SIGKILL') => {
    if (server.exitCode !== null || server.signalCode !== null) return
    const exited = once(server, 'exit')
    server.kill(signal)
    await exited
  }
  return {
    url: `redis://127.0.0.1:${port}`,
    async start() {
      server = await launch()
    },
    pause: () => void server.kill('SIGSTOP'),
    resume: () => void server.kill('SIGCONT'),
    kill: () => end('SIGKILL'),
    async stop() {
      await end('SIGTERM')
      rmSync(directory, { recursive: true, force: true })
    },
    abandon() {
      server.kill('SIGKILL')
      removeDirectorySync(directory)
    },
  }
}

async function isReady(server: ChildProcess) {
  let said = ''
  for await (const text of server.stdout ?? []) {
    said += text
    if (said.includes('Ready to accept connections')) {
      server.stdout?.resume()
      return
    }
  }
  throw new Error(`Redis did not start: ${said}`)
}
