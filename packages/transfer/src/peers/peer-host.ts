/**
 * Where to listen for the peers of a registry: those who deal with one on this machine are on this machine, and for others it
 * has to be every address.
 */
export function peerHostFor(registryAddress: string): string {
  const { hostname } = new URL(registryAddress)
  const isLoopback = hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.')
  return isLoopback ? '127.0.0.1' : '0.0.0.0'
}
