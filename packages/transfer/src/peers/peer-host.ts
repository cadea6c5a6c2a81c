import { isLoopback } from '@shoal/core/addresses'

/**
 * Where to listen for the peers of a registry: those who deal with one on this machine are on this machine, and for others it
 * has to be every address.
 */
export function peerHostFor(registryAddress: string): string {
  return isLoopback(new URL(registryAddress).hostname) ? '127.0.0.1' : '0.0.0.0'
}
