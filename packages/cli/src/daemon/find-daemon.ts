/** Finds the daemon that a command calls: the one named by the user, otherwise the local one that proves to be ours. */
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
  /** No daemon of ours was found; `url` is the default address. */
  | { from: 'nowhere'; url: string; stranger: Stranger | undefined }

type Here = Pick<Context, 'environment' | 'places'>

/** A named daemon is trusted, and may not be running. If `signal` fires, the search ends without a result. */
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

/** The program that answers at the default port instead of our daemon; undefined if none does. */
export async function findStranger(
  here: Pick<Context, 'environment'>,
  signal?: AbortSignal,
): Promise<Stranger | undefined> {
  const kind = await findPortHolder(getDefaultPort(here), signal)
  return kind && { label: formatLabel(getDefaultUrl(here)), kind }
}

/** Returns a daemon that answers. Throws a `NoDaemonError` if there is none, which names another program that answers. */
export async function findDaemonClient(
  context: Here,
  named?: string,
  signal?: AbortSignal,
): Promise<InferenceClient> {
  const found = await findDaemon(context, named, signal)
  if (found.from === 'nowhere') throw new NoDaemonError(found.url, found.stranger)
  return await openClient(found, signal)
}

/** Throws a `DaemonGoneError` if a named daemon does not answer. Ollama does not count as one. */
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
