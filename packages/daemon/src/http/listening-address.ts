/** The address on which the daemon listens, and who can reach it there. */
import type { AddressInfo } from 'node:net'
import { isLoopback, isLoopbackAddress } from '@shoal/core/addresses'
import type { DaemonConfig } from '../config.ts'
import { ConfigError } from '../errors.ts'

type Settings = Pick<DaemonConfig, 'host' | 'apiKey'>

/**
 * Throws a `ConfigError` if others can reach one of the addresses and no key is required: a name under `localhost`
 * requires none, but the system's resolver may return any address for it.
 */
export function refuseExposure({ host, apiKey }: Settings, bound: readonly AddressInfo[]): void {
  if (apiKey !== undefined || !isLoopback(host)) return
  const exposed = bound.find(({ address }) => !isLoopbackAddress(address))
  if (exposed === undefined) return
  throw new ConfigError(
    `${host} is ${exposed.address}, where others can reach this daemon: set a key with SHOAL_API_KEY or --api-key-file, or choose another --host`,
  )
}

/** The addresses of `localhost`; other addresses must be given as such. */
const localHosts = ['127.0.0.1', 'localhost', '0.0.0.0', '::']

/** The address at which programs on this machine reach a server that listens on `host`. */
export function localUrl(host: string, port: number): string {
  if (localHosts.includes(host)) return `http://localhost:${port}`
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
