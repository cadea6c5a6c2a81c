/** Which daemon a command speaks to: the named one, else the one that runs here, else whoever is at the usual port. */
import type { Context } from '../context.ts'
import { daemonAddress } from '../settings/address.ts'
import { misuse } from '../terminal/failure.ts'
import { type DaemonClient, daemonClient, isDaemonAt } from './daemon-client.ts'
import { DaemonGoneError } from './daemon-error.ts'
import { findRunningDaemon } from './state-file.ts'

export const defaultInference = 'http://localhost:11434'

export type FoundAddress = { url: string; from: 'name' | 'state' | 'default' }

export async function findDaemonAddress(
  { surroundings, places }: Pick<Context, 'surroundings' | 'places'>,
  named?: string,
): Promise<FoundAddress> {
  const name = named ?? surroundings.env.SHOAL_INFERENCE?.trim()
  if (name) return { url: daemonAddress(name), from: 'name' }
  const running = await findRunningDaemon(places)
  return running ? { url: running.url, from: 'state' } : { url: defaultInference, from: 'default' }
}

/** A daemon that answers, or a `DaemonGoneError`. Ollama on the usual port is none. */
export async function findDaemonClient(context: Context, named?: string): Promise<DaemonClient> {
  const { url, from } = await findDaemonAddress(context, named)
  if (from !== 'state' && !(await isDaemonAt(url))) throw new DaemonGoneError(url, false)
  return daemonClient({ url, apiKey: apiKeyIn(context) })
}

export function apiKeyIn({ surroundings }: Pick<Context, 'surroundings'>): string | undefined {
  const key = surroundings.env.SHOAL_API_KEY?.trim() || undefined
  if (key === undefined || /^[\x21-\x7e]+$/.test(key)) return key
  throw misuse('SHOAL_API_KEY holds characters that no key has.')
}
