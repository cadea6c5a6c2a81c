import { getNetwork, packedAddress, plainAddress } from '@shoal/core/addresses'

/**
 * Maximum number of characters to keep of a client address that a proxy reports. An IPv6 address has up to 45
 * characters, or more if it has a zone.
 */
const maxAddressLength = 64

/**
 * Returns the network from which a request comes: an IPv4 address or an IPv6 /64. If a proxy reports something other
 * than an IP address, returns the beginning of the reported value.
 */
export function clientNetwork({ ip }: { ip: string }): string {
  const address = plainAddress(ip)
  return address ? getNetwork(address) : ip.slice(0, maxAddressLength)
}

/**
 * Returns the largest network that the client's site may have been assigned: an IPv4 address, or an IPv6 /48, which
 * contains 65,536 /64 networks (RFC 6177).
 */
export function clientSite({ ip }: { ip: string }): string {
  const address = plainAddress(ip)
  return address?.includes(':')
    ? packedAddress(address).slice(0, 6)
    : (address ?? ip.slice(0, maxAddressLength))
}
