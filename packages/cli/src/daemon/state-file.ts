/** The note that a running daemon keeps of itself, by which the other commands find it: `daemon.json`. */
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { readJsonFile, writeJsonFile } from '../settings/json-file.ts'
import type { Places } from '../settings/places.ts'
import { isErrno } from '../terminal/errno.ts'
import { Failure } from '../terminal/failure.ts'
import { isProcessDaemonAt, isProvenAt } from './daemon-client.ts'

export type DaemonState = {
  pid: number
  /** As in `http://localhost:11434`. */
  url: string
  port: number
  started_at: string
  /** Null where the log goes to stdout. */
  log_file: string | null
  /** Which command the process was started as: `up` is a registry as well. */
  command: 'serve' | 'up'
  /** The folder whose models it shares with others; null for none. */
  shared_directory?: string | null
  /** What the daemon proves to know. Daemons up to 0.1 have none, and cannot prove anything. */
  token?: string
}

export const defaultLogFile = (places: Places) => join(places.state, 'daemon.log')
const statePath = (places: Places) => join(places.state, 'daemon.json')

/** What the last daemon left, whether it still runs or not. */
export async function readDaemonState(places: Places): Promise<DaemonState | undefined> {
  const content = await readJsonFile(statePath(places)).catch((error: unknown) => {
    // A note that a power cut left half written is as good as none.
    if (error instanceof Failure) return {}
    throw error
  })
  return isState(content) ? content : undefined
}

/**
 * The daemon that runs now. A note of one that was killed, whose number and port others may have, does not count. One without
 * a token may be stopped, and is told nothing.
 */
export async function findRunningDaemon(places: Places): Promise<DaemonState | undefined> {
  const state = await readDaemonState(places)
  if (!state || !(await isProcessThere(state.pid))) return undefined
  const { url, pid, token } = state
  const isThere =
    token === undefined ? await isProcessDaemonAt(url, pid) : await isProvenAt(url, token)
  return isThere ? state : undefined
}

export function writeDaemonState(places: Places, state: DaemonState): Promise<void> {
  return writeJsonFile(statePath(places), 0o600, state)
}

/** Takes the note away, unless it has become that of another. */
export async function forgetDaemonState(places: Places, pid: number): Promise<void> {
  const state = await readDaemonState(places)
  if (state?.pid === pid) await rm(statePath(places), { force: true })
}

export async function isProcessThere(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0)
  } catch (error) {
    // What belongs to somebody else is there as well.
    return isErrno(error, 'EPERM')
  }
  return !(await hasEnded(pid))
}

/** On Linux a process that nobody asked for its exit code keeps its number: in a container perhaps for ever. */
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
