import { isLoopback } from '@shoal/core/addresses'

/**
 * The address on which to listen for peers of a registry: for one on this machine, its peers are on this machine too;
 * for others it has to be every address.
 */
export function peerHostFor(registryAddress: string): string {
  return isLoopback(new URL(registryAddress).hostname) ? '127.0.0.1' : '0.0.0.0'
}
