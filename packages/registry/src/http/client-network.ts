import { getNetwork, packedAddress, plainAddress } from '@shoal/core/addresses'

/** A proxy may report any text as the client; an IPv6 address has up to 45 characters, and more with a zone. */
const maxAddressLength = 64

/**
 * The network from which a request comes. A proxy may report something other than an address: that is used as it is.
 */
export function clientNetwork({ ip }: { ip: string }): string {
  const address = plainAddress(ip)
  return address ? getNetwork(address) : ip.slice(0, maxAddressLength)
}

/**
 * The largest network that a client may have been assigned: an IPv4 address, or an IPv6 /48 with 65,536 networks (RFC
 * 6177).
 */
export function clientSite({ ip }: { ip: string }): string {
  const address = plainAddress(ip)
  return address?.includes(':')
    ? packedAddress(address).slice(0, 6)
    : (address ?? ip.slice(0, maxAddressLength))
}
