import { getNetwork, packedAddress, plainAddress } from '@shoal/core/addresses'

/** A proxy may say anything of a client; an IPv6 address has up to 45 characters, with a zone some more. */
const maxAddressLength = 64

/** The network that a request comes from. A proxy may send something that is no address: that counts as it is. */
export function clientNetwork({ ip }: { ip: string }): string {
  const address = plainAddress(ip)
  return address ? getNetwork(address) : ip.slice(0, maxAddressLength)
}

/** What a request's sender may have been given as a whole: an IPv4 address, an IPv6 /48 with 65,536 networks (RFC 6177). */
export function clientSite({ ip }: { ip: string }): string {
  const address = plainAddress(ip)
  return address?.includes(':')
    ? packedAddress(address).slice(0, 6)
    : (address ?? ip.slice(0, maxAddressLength))
}
