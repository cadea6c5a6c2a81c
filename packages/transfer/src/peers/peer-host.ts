import { isLoopback } from '@shoal/core/addresses'

/**
 * Returns the address on which to listen for a registry's peers. If only this machine can reach the registry, all peers
 * are on this machine, too. For any other registry, we listen on every IPv4 address.
 */
export function peerHostFor(registryAddress: string): string {
  return isLoopback(new URL(registryAddress).hostname) ? '127.0.0.1' : '0.0.0.0'
}
