/**
 * Finds the daemon that a command calls: the daemon that the user has specified, or else the local daemon, which must
 * prove that it belongs to the user.
 */
import { daemonSettings } from '@shoal/daemon/settings'
import { DaemonGoneError, type InferenceClient } from '@shoal/protocol/inference-client'
import type { Context } from '../context.ts'
import { readCliSetting } from '../settings/read-cli-setting.ts'
import { cliSettings } from '../settings/settings.ts'
import { misuse } from '../terminal/failure.ts'
import { daemonClient, isDaemonAt } from './daemon-client.ts'
import { NoDaemonError } from './daemon-error.ts'
import type { DaemonAddress } from './daemon-transport.ts'
import { findPortHolder } from './port-holder.ts'
import { findRunningDaemon } from './state-file.ts'
import type { Stranger } from './stranger.ts'

const defaultPort = 11_434

export type FoundDaemon =
  | { from: 'name' | 'state'; address: DaemonAddress }
  /** The user's daemon was not found. `url` is the address that was checked. */
  | { from: 'nowhere'; url: string; stranger: Stranger | undefined }

type Here = Pick<Context, 'environment' | 'places'>

/**
 * Finds the daemon. A daemon that the user has specified is returned without a check. If `signal` fires, the search
 * ends early, and no daemon is found.
 */
export async function findDaemon(
  here: Here,
  named?: string,
  signal?: AbortSignal,
): Promise<FoundDaemon> {
  const { environment, places } = here
  const flags = { inference: named }
  const namedUrl = readCliSetting(cliSettings.inference, { env: environment.env, flags })
  const apiKey = apiKeyIn(here)
  if (namedUrl !== undefined) return { from: 'name', address: { url: namedUrl, apiKey } }
  const running = await findRunningDaemon(places, signal)
  if (running?.token !== undefined) {
    return { from: 'state', address: { url: running.url, apiKey, proofToken: running.token } }
  }
  const url = running?.url ?? getDefaultUrl(here)
  const stranger = running
    ? ({ label: formatLabel(url), kind: 'earlier' } as const)
    : await findStranger(here, signal)
  return { from: 'nowhere', url, stranger }
}

/** Returns the program that responds on the default port instead of the user's daemon, or undefined if none does. */
export async function findStranger(
  here: Pick<Context, 'environment'>,
  signal?: AbortSignal,
): Promise<Stranger | undefined> {
  const kind = await findPortHolder(getDefaultPort(here), signal)
  return kind && { label: formatLabel(getDefaultUrl(here)), kind }
}

/**
 * Returns a client for the daemon. If there is no daemon, throws a `NoDaemonError`, which describes the program that
 * responds instead, if any.
 */
export async function findDaemonClient(
  context: Here,
  named?: string,
  signal?: AbortSignal,
): Promise<InferenceClient> {
  const found = await findDaemon(context, named, signal)
  if (found.from === 'nowhere') throw new NoDaemonError(found.url, found.stranger)
  return await openClient(found, signal)
}

/** Returns a client. Throws a `DaemonGoneError` if the user has specified an address at which no daemon responds. */
export async function openClient(
  { from, address }: Exclude<FoundDaemon, { from: 'nowhere' }>,
  signal?: AbortSignal,
): Promise<InferenceClient> {
  if (from === 'name' && !(await isDaemonAt(address.url, signal))) {
    throw new DaemonGoneError(address.url, false)
  }
  return daemonClient(address)
}

export const getDefaultPort = ({ environment }: Pick<Context, 'environment'>): number =>
  environment.daemonPort ?? defaultPort

const getDefaultUrl = (here: Pick<Context, 'environment'>) =>
  `http://localhost:${getDefaultPort(here)}`
const formatLabel = (url: string) => url.replace(/^https?:\/\//, '')

function apiKeyIn({ environment }: Pick<Context, 'environment'>): string | undefined {
  const key = readCliSetting(daemonSettings.apiKey, environment)
  if (key === undefined || /^[\x21-\x7e]+$/.test(key)) return key
  throw misuse('SHOAL_API_KEY contains characters that are not allowed in an API key.')
}
