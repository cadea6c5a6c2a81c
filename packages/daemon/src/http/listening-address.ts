/** The addresses on which the daemon listens: which machines can reach them, and the URL for this machine. */
import type { AddressInfo } from 'node:net'
import { isLoopback, isLoopbackAddress } from '@shoal/core/addresses'
import type { DaemonConfig } from '../config.ts'
import { ConfigError } from '../errors.ts'

type Settings = Pick<DaemonConfig, 'host' | 'apiKey'>

/**
 * Throws a `ConfigError` if no key is set and `host` is a loopback name, but other machines can reach one of the bound
 * addresses. This can happen because the system's resolver may return any address for a name under `localhost`.
 */
export function refuseExposure({ host, apiKey }: Settings, bound: readonly AddressInfo[]): void {
  if (apiKey !== undefined || !isLoopback(host)) return
  const exposed = bound.find(({ address }) => !isLoopbackAddress(address))
  if (exposed === undefined) return
  throw new ConfigError(
    `${host} resolves to ${exposed.address}, where other machines can reach this daemon: set a key with SHOAL_API_KEY or --api-key-file, or choose another --host`,
  )
}

/** Values of `host` for which the daemon can be reached at `localhost`. For all others, the URL contains the host. */
const localHosts = ['127.0.0.1', 'localhost', '0.0.0.0', '::']

/** The URL at which programs on this machine reach a server that listens on `host`. */
export function localUrl(host: string, port: number): string {
  if (localHosts.includes(host)) return `http://localhost:${port}`
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
