/** `daemon.json`, which a running daemon writes so that other commands can find it. */
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isErrno } from '@shoal/files'
import { readJsonFile, writeJsonFile } from '../settings/json-file.ts'
import type { Places } from '../settings/places.ts'
import { Failure } from '../terminal/failure.ts'
import { type Answerer, askForProcess, askForProof } from './daemon-client.ts'

export type DaemonState = {
  pid: number
  /** The daemon's base URL, such as `http://localhost:11434`. */
  url: string
  port: number
  started_at: string
  /** The path of the log file; null if the log goes to stdout. */
  log_file: string | null
  /** The command that started the daemon. With `up`, the same process also runs a registry. */
  command: 'serve' | 'up'
  /** The folder whose models the daemon shares; null if it shares none. */
  shared_directory?: string | null
  /** The token with which the daemon proves its identity. Daemons up to version 0.1 have none. */
  token?: string
}

export const defaultLogFile = (places: Places) => join(places.state, 'daemon.log')
const statePath = (places: Places) => join(places.state, 'daemon.json')

/** Returns the state that the last daemon wrote, even if that daemon has exited. */
export async function readDaemonState(places: Places): Promise<DaemonState | undefined> {
  const content = await readJsonFile(statePath(places)).catch((error: unknown) => {
    // A file left incomplete by a power failure counts as missing.
    if (error instanceof Failure) return {}
    throw error
  })
  return isState(content) ? content : undefined
}

/**
 * Returns the user's running daemon, or undefined if none responds. A program that has taken over the daemon's process
 * ID or port is not mistaken for the daemon. Callers may stop a daemon that has no token, but must not send it
 * requests.
 */
export async function findRunningDaemon(
  places: Places,
  signal?: AbortSignal,
): Promise<DaemonState | undefined> {
  const noted = await askNotedDaemon(places, signal)
  return noted?.answerer === 'daemon' ? noted.state : undefined
}

/**
 * Returns the daemon described in `daemon.json`, and the result of a request to its address. Returns undefined if there
 * is no such file or the daemon's process has ended.
 */
export async function askNotedDaemon(
  places: Places,
  signal?: AbortSignal,
): Promise<{ state: DaemonState; answerer: Answerer } | undefined> {
  const state = await readDaemonState(places)
  if (!state || !(await isProcessThere(state.pid))) return undefined
  const { url, pid, token } = state
  const answerer =
    token === undefined
      ? await askForProcess(url, pid, signal)
      : await askForProof(url, token, signal)
  return { state, answerer }
}

export function writeDaemonState(places: Places, state: DaemonState): Promise<void> {
  return writeJsonFile(statePath(places), 0o600, state)
}

/** Removes `daemon.json`, unless a daemon with another process ID has replaced the file with its own. */
export async function forgetDaemonState(places: Places, pid: number): Promise<void> {
  const state = await readDaemonState(places)
  if (state?.pid === pid) await rm(statePath(places), { force: true })
}

export async function isProcessThere(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0)
  } catch (error) {
    // EPERM means that the process exists, but belongs to another user.
    return isErrno(error, 'EPERM')
  }
  return !(await hasEnded(pid))
}

/**
 * Whether the process has ended. On Linux, an ended process keeps its ID until its parent reads its exit code, which
 * may never happen in a container.
 */
async function hasEnded(pid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error) return ''
    throw error
  })
  return /^\d+ \(.*\) Z /s.test(status)
}

function isState(content: object): content is DaemonState {
  const { pid, url, port, token } = content as Partial<DaemonState>
  return (
    Number.isSafeInteger(pid) &&
    Number(pid) > 0 &&
    typeof url === 'string' &&
    URL.canParse(url) &&
    typeof port === 'number' &&
    (token === undefined || (typeof token === 'string' && token !== ''))
  )
}
