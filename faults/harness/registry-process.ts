import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, closeSync, openSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { shoalProgram } from '../../bench/harness/shoal.ts'
import type { Failures } from './failures.ts'
import { listOpenFiles, type OpenFiles } from './open-files.ts'
import { TimeoutError, until, within } from './waiting.ts'

export type RegistryOptions = {
  dataDirectory: string
  databaseUrl: string | undefined
  /** Where its log and its temporary files go. */
  logFolder: string
  temporaryFolder: string
  /** More of the environment. */
  env: Record<string, string>
  /** Its log goes into a pipe that is read only on demand, in place of a file. */
  hasPipedLog: boolean
  failures: Failures
  timeoutFactor: number
}

export type RegistryProcess = ReturnType<typeof registryProcess>

/** The contract: SIGTERM ends it within this time. */
const stopTimeoutMs = 10_000
const startTimeoutMs = 30_000
/** The first that is said is its own, unless it was given a base URL. */
const anyAddress = /https?:\/\/[^\s:]+:(\d+)/

/** The real registry as a child process, which can be started again and again on the same data. */
export function registryProcess(options: RegistryOptions) {
  const { dataDirectory, failures, timeoutFactor } = options
  const logFile = join(options.logFolder, 'registry.log')
  let child: ChildProcess | undefined
  let origin = 'http://127.0.0.1:9' // nothing listens there
  let isWanted = false
  let startMs = 0

  const environment = () => ({
    PATH: process.env.PATH,
    NODE_NO_WARNINGS: '1',
    TMPDIR: options.temporaryFolder,
    SHOAL_HOME: options.temporaryFolder,
    SHOAL_RATE_LIMITS: 'off',
    ...(options.databaseUrl !== undefined && { DATABASE_URL: options.databaseUrl }),
  })

  /** Begins to start, and does not wait for that. Returns where in the log this run begins. */
  function launch(): number {
    const log = openSync(logFile, 'a')
    const beginsAt = statSync(logFile).size
    const started = spawn(
      process.execPath,
      [shoalProgram, 'registry', '--port', '0', '--data', dataDirectory],
      {
        stdio: ['ignore', options.hasPipedLog ? 'pipe' : log, log],
        env: { ...environment(), ...options.env },
      },
    )
    closeSync(log)
    child = started
    isWanted = true
    started.once('exit', (code, signal) => {
      if (child !== started || !isWanted) return
      isWanted = false
      failures.stuck(
        'the registry goes on running',
        `it ended by itself with ${code ?? signal}: ${lastErrorIn(logFile)}`,
      )
    })
    return beginsAt
  }

  async function exited(one: ChildProcess) {
    if (one.exitCode === null && one.signalCode === null) await once(one, 'exit')
  }

  return {
    dataDirectory,
    origin: () => origin,
    pid: () => child?.pid ?? 0,
    isRunning: () => isWanted,
    /** How long the last start took. */
    startMs: () => startMs,
    /** Reads a log that goes into a pipe, and throws it away. */
    readLog: () => void child?.stdout?.resume(),
    launch,

    /** Starts it and waits until it answers. */
    async start() {
      const launchedAt = performance.now()
      const beginsAt = launch()
      await until('the registry answers', startTimeoutMs * timeoutFactor, async () => {
        if (!isWanted) throw new TimeoutError(`the registry did not start: ${lastErrorIn(logFile)}`)
        const text = readFileSync(logFile, 'utf8').slice(beginsAt)
        const port = (options.env.SHOAL_BASE_URL ? /listening at \S+:(\d+)/ : anyAddress).exec(
          text,
        )?.[1]
        if (port) origin = `http://127.0.0.1:${port}`
        return port !== undefined && (await isAnswering(`${origin}/healthz`))
      })
      startMs = performance.now() - launchedAt
    },

    /** SIGKILL: at once, wherever it is. */
    async kill() {
      isWanted = false
      child?.kill('SIGKILL')
      if (child) await exited(child)
    },

    /** SIGTERM, which must end it with exit code 0 in time. */
    async stop() {
      if (!child || !isWanted) return
      isWanted = false
      const ending = child
      ending.kill('SIGTERM')
      try {
        await within('the end', stopTimeoutMs * timeoutFactor, exited(ending))
        if (ending.exitCode === 0) return
        const seen = `it ended with ${ending.exitCode ?? ending.signalCode}: ${lastErrorIn(logFile)}`
        failures.wrong('the registry ends with exit code 0 after SIGTERM', seen)
      } catch (error) {
        if (!(error instanceof TimeoutError)) throw error
        const seconds = (stopTimeoutMs * timeoutFactor) / 1000
        failures.stuck(`the registry ends within ${seconds} s of SIGTERM`, 'it had to be killed')
        ending.kill('SIGKILL')
        await exited(ending)
      }
    },

    openFiles: (): OpenFiles => listOpenFiles(child?.pid ?? 0, dataDirectory),

    /** A command of `shoal admin` beside it. */
    startAdmin(...words: string[]): ChildProcess {
      const log = openSync(logFile, 'a')
      appendFileSync(log, `\nshoal admin ${words.join(' ')}\n`)
      const admin = spawn(
        process.execPath,
        [shoalProgram, 'admin', ...words, '--data', dataDirectory],
        { stdio: ['ignore', log, log], env: environment() },
      )
      closeSync(log)
      return admin
    },

    /** For a driver that ends before its time. */
    [Symbol.dispose]() {
      isWanted = false
      child?.kill('SIGKILL')
    },
  }
}

async function isAnswering(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(5_000) })).ok
  } catch {
    return false // it is being started
  }
}

/** The last line of a log that speaks of an error, or the last line. */
function lastErrorIn(file: string): string {
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  const error = lines.findLast((line) => /^(✗|[\w\s]*error:)|"level":[56]0/i.test(line))
  return (error ?? lines.at(-1) ?? '').slice(0, 300)
}
