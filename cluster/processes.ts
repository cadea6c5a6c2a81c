/**
 * Processes that outlive the command that starts them. Later commands find them by their process IDs. Requires Linux.
 */
import { execFile, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { untilStarted } from '../testing/until-started.ts'
import { type Cluster, type ProcessRecord, type Program, saveCluster, type User } from './state.ts'

const logLines = 15
const pauseMs = 20

/** Starts a process that logs to a file, and records it. */
export function launch(cluster: Cluster, program: Program): ProcessRecord {
  const { name, path, options, env, user } = program
  const log = openSync(logFile(cluster, name), 'a')
  const child = spawn(path, options, {
    cwd: cluster.directory,
    detached: true, // so that Ctrl-C in the terminal does not end it
    stdio: ['ignore', log, log],
    ...(env && { env }),
    ...user,
  })
  closeSync(log)
  child.unref()
  if (child.pid === undefined) throw new Error(`could not start ${path}`)
  const record = { ...identify(name, child.pid), program }
  const others = cluster.state.processes.filter((one) => one.name !== name)
  cluster.state.processes = [...others, record]
  saveCluster(cluster)
  return record
}

/** Runs a program to completion, in the cluster's folder. Resolves to its output. */
export async function run(cluster: Cluster, path: string, options: string[], user: User = {}) {
  const result = promisify(execFile)(path, options, { cwd: cluster.directory, ...user })
  const { pid } = result.child
  if (pid === undefined) return result // it could not be started
  const record = identify(path, pid)
  cluster.running.add(record)
  try {
    return await result
  } finally {
    cluster.running.delete(record)
  }
}

/**
 * Repeats a check until it resolves. If the process exits first, or after a timeout, rejects with an error that ends
 * with the last lines of the process's log.
 */
export async function untilReady(
  cluster: Cluster,
  record: ProcessRecord,
  check: () => Promise<unknown>,
): Promise<void> {
  try {
    await untilStarted(record.name, check, { isRunning: () => isRunning(record) })
  } catch (error) {
    const lines = readFileSync(logFile(cluster, record.name), 'utf8').trimEnd().split('\n')
    const log = lines.slice(-logLines).join('\n')
    throw new Error(`${error instanceof Error ? error.message : error}\n${log}`, { cause: error })
  }
}

export const isRunning = ({ pid, startTicks }: ProcessRecord) => readStartTicks(pid) === startTicks

/** Sends a signal, unless the process has exited. */
export function send(record: ProcessRecord, signal: NodeJS.Signals): void {
  if (!isRunning(record)) return
  try {
    process.kill(record.pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error // it has just exited
  }
}

/**
 * Sends a signal, and resolves when the process has exited. Kills the process if it is still running after the timeout.
 */
export async function end(record: ProcessRecord, signal: NodeJS.Signals, timeoutMs = 15_000) {
  send(record, signal)
  const deadline = Date.now() + timeoutMs
  // There is no event for the exit of a process that is not a child of this process.
  while (isRunning(record)) {
    if (Date.now() > deadline) send(record, 'SIGKILL')
    await sleep(pauseMs)
  }
}

/**
 * Kills all processes, and blocks until they have exited, for at most 5 s. For `exit` handlers, which cannot wait for
 * promises.
 */
export function killAll({ running, state }: Cluster): void {
  const records = [...running, ...state.processes].flatMap(withDescendants)
  for (const record of records) send(record, 'SIGKILL')
  const nothing = new Int32Array(new SharedArrayBuffer(4))
  for (let waits = 0; waits < 250 && records.some(isRunning); waits += 1) {
    Atomics.wait(nothing, 0, 0, pauseMs)
  }
}

export const logFile = ({ directory }: Cluster, name: string) =>
  join(directory, 'log', `${name}.log`)

/** Returns the record of a process. If the process has already exited, it never counts as running. */
const identify = (name: string, pid: number): ProcessRecord => ({
  name,
  pid,
  startTicks: readStartTicks(pid) ?? '',
})

/** Returns a process and the processes that it has started, such as those of `initdb`. */
function withDescendants(record: ProcessRecord): ProcessRecord[] {
  const { pid, name } = record
  const children = readProc(`${pid}/task/${pid}/children`)?.trim().split(' ').filter(Boolean) ?? []
  return [record, ...children.flatMap((child) => withDescendants(identify(name, Number(child))))]
}

/** Returns the start time of a process in clock ticks (`proc(5)`); undefined if the process has exited. */
function readStartTicks(pid: number): string | undefined {
  const stat = readProc(`${pid}/stat`)
  const [state, ...fields] = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? []
  return state === 'Z' ? undefined : fields[18]
}

/** Reads a file below `/proc`; undefined if its process has exited. */
function readProc(path: string): string | undefined {
  try {
    return readFileSync(join('/proc', path), 'utf8')
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (!['ENOENT', 'ESRCH'].includes(code)) throw error
    return undefined
  }
}
