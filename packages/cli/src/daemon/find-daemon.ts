/** Which daemon a command speaks to: the named one, else the one that runs here and proves that it is ours. */
import type { Context } from '../context.ts'
import { findPortHolder } from '../doctor/port-holder.ts'
import { daemonAddress } from '../settings/address.ts'
import { misuse } from '../terminal/failure.ts'
import type { DaemonAddress } from './daemon-call.ts'
import { type DaemonClient, daemonClient, isDaemonAt } from './daemon-client.ts'
import { DaemonGoneError } from './daemon-error.ts'
import { findRunningDaemon } from './state-file.ts'
import type { Stranger } from './stranger.ts'

const usualPort = 11_434

export type FoundDaemon =
  | { from: 'name' | 'state'; address: DaemonAddress }
  /** None of ours, at the address where one usually is. */
  | { from: 'nowhere'; url: string; stranger: Stranger | undefined }

type Here = Pick<Context, 'surroundings' | 'places'>

/** A named daemon is taken at its word, and may not be there. */
export async function findDaemon(here: Here, named?: string): Promise<FoundDaemon> {
  const { surroundings, places } = here
  const name = named ?? surroundings.env.SHOAL_INFERENCE?.trim()
  const apiKey = apiKeyIn(here)
  if (name) return { from: 'name', address: { url: daemonAddress(name), apiKey } }
  const running = await findRunningDaemon(places)
  if (running?.token !== undefined) {
    return { from: 'state', address: { url: running.url, apiKey, proofToken: running.token } }
  }
  const port = usualPortOf(here)
  const url = running?.url ?? `http://localhost:${port}`
  const label = url.replace(/^https?:\/\//, '')
  const kind = running ? 'earlier' : await findPortHolder(port)
  return { from: 'nowhere', url, stranger: kind && { label, kind } }
}

/** A daemon that answers, or a `DaemonGoneError` that says what is there in its place. */
export async function findDaemonClient(context: Here, named?: string): Promise<DaemonClient> {
  const found = await findDaemon(context, named)
  if (found.from === 'nowhere') throw new DaemonGoneError(found.url, false, found)
  return await openClient(found)
}

/** Throws a `DaemonGoneError` where a named daemon is not there. Ollama is none. */
export async function openClient({
  from,
  address,
}: Exclude<FoundDaemon, { from: 'nowhere' }>): Promise<DaemonClient> {
  if (from === 'name' && !(await isDaemonAt(address.url))) {
    throw new DaemonGoneError(address.url, false)
  }
  return daemonClient(address)
}

export const usualPortOf = ({ surroundings }: Pick<Context, 'surroundings'>): number =>
  surroundings.daemonPort ?? usualPort

function apiKeyIn({ surroundings }: Pick<Context, 'surroundings'>): string | undefined {
  const key = surroundings.env.SHOAL_API_KEY?.trim() || undefined
  if (key === undefined || /^[\x21-\x7e]+$/.test(key)) return key
  throw misuse('SHOAL_API_KEY holds characters that no key has.')
}
