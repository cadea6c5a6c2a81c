import { isLoopback } from '@shoal/core/addresses'

/**
 * Returns the address on which to listen for a registry's peers. The peers of a registry on this machine are on this
 * machine, too. For any other registry, we must listen on every address.
 */
export function peerHostFor(registryAddress: string): string {
  return isLoopback(new URL(registryAddress).hostname) ? '127.0.0.1' : '0.0.0.0'
}
