import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, closeSync, openSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { shoalProgram } from '../../bench/harness/shoal.ts'
import { describeHang, reportArguments } from './describe-hang.ts'
import type { Failures } from './failures.ts'
import { listOpenFiles, type OpenFiles } from './open-files.ts'
import { TimeoutError, until, within } from './waiting.ts'

export type RegistryOptions = {
  dataDirectory: string
  databaseUrl: string | undefined
  /** The folder of the registry's log. */
  logFolder: string
  temporaryFolder: string
  /** Additional environment variables. */
  env: Record<string, string>
  /** Whether the registry logs to a pipe, which is read only on demand, instead of a file. */
  hasPipedLog: boolean
  failures: Failures
  timeoutFactor: number
}

export type RegistryProcess = ReturnType<typeof registryProcess>

/** How long the registry may take to exit after SIGTERM. */
const stopTimeoutMs = 10_000
const startTimeoutMs = 60_000
/** The first address in the log is the registry's own, unless a base URL is set. */
const anyAddress = /https?:\/\/[^\s:]+:(\d+)/

/** Runs the real registry as a child process, which can be restarted with the same data. */
export function registryProcess(options: RegistryOptions) {
  const { dataDirectory, failures, timeoutFactor } = options
  const logFile = join(options.logFolder, 'registry.log')
  let child: ChildProcess | undefined
  let origin = 'http://127.0.0.1:9' // no program listens on this port
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

  /** Starts the registry without waiting until it responds. Returns the offset in the log at which this run begins. */
  function launch(): number {
    const log = openSync(logFile, 'a')
    const beginsAt = statSync(logFile).size
    const started = spawn(
      process.execPath,
      [
        ...reportArguments(options.logFolder),
        ...[shoalProgram, 'registry', '--port', '0', '--data', dataDirectory],
      ],
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
        'the registry keeps running',
        `it exited with ${code ?? signal}: ${lastErrorIn(logFile)}`,
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
    /** Returns the duration of the last start in milliseconds. */
    startMs: () => startMs,
    /** Reads the piped log and discards it. */
    readLog: () => void child?.stdout?.resume(),
    launch,

    /** Starts the registry, and waits until it responds. */
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

    /** Sends SIGKILL. */
    async kill() {
      isWanted = false
      child?.kill('SIGKILL')
      if (child) await exited(child)
    },

    /** Sends SIGTERM, after which the registry must exit in time, with exit code 0. */
    async stop() {
      if (!child || !isWanted) return
      isWanted = false
      const ending = child
      ending.kill('SIGTERM')
      try {
        await within('the shutdown', stopTimeoutMs * timeoutFactor, exited(ending))
        if (ending.exitCode === 0) return
        const seen = `it exited with ${ending.exitCode ?? ending.signalCode}: ${lastErrorIn(logFile)}`
        failures.wrong('the registry exits with 0 after SIGTERM', seen)
      } catch (error) {
        if (!(error instanceof TimeoutError)) throw error
        const seconds = (stopTimeoutMs * timeoutFactor) / 1000
        const seen = `it had to be killed: ${await describeHang(ending, options.logFolder)}`
        failures.stuck(`the registry exits within ${seconds} s of SIGTERM`, seen)
        ending.kill('SIGKILL')
        await exited(ending)
      }
    },

    openFiles: (): OpenFiles => listOpenFiles(child?.pid ?? 0, dataDirectory),

    /** Starts a `shoal admin` command with the same data. */
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

    /** Kills the registry if this program exits early. */
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
    return false // the registry is still starting
  }
}

/** Returns the last line with an error or, if there is none, the last line. */
function lastErrorIn(file: string): string {
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  const error = lines.findLast((line) => /^(✗|[\w\s]*error:)|"level":[56]0/i.test(line))
  return (error ?? lines.at(-1) ?? '').slice(0, 300)
}
