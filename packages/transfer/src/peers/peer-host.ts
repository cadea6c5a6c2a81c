import { bareHost, isLoopback } from '@shoal/core/addresses'
import { findInterfaces } from './local-discovery/local-networks.ts'

/**
 * Returns the address on which to listen for a registry's peers. If only this machine can reach the registry, all peers
 * are on this machine, too. For any other registry, we listen on every address (`anyHost`).
 */
export function peerHostFor(registryAddress: string): string {
  const host = bareHost(new URL(registryAddress).hostname)
  if (!isLoopback(host)) return anyHost()
  return host === '::1' ? host : '127.0.0.1'
}

/** `::`, which also accepts connections over IPv4; `0.0.0.0` if this machine has no IPv6 address. */
export function anyHost(): string {
  const addresses = Object.values(findInterfaces()).flatMap((found) => found ?? [])
  return addresses.some(({ family }) => family === 'IPv6') ? '::' : '0.0.0.0'
}
