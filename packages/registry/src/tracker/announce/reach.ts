import type { Reach } from '@shoal/core/addresses'
import { classifyAddress } from '@shoal/core/addresses'

/*
 * Which peers are returned to which clients. An address is only useful on its own side: 127.0.0.1 on the same machine,
 * 192.168.1.7 in the same LAN. A registry often runs on a machine of a LAN for its users, one of whom seeds on that machine:
 *
 * - Peers on the registry's machine announce from a loopback address. Other clients there get that address; all other
 *   clients get the one at which they reached the registry (`own-address.ts`), since it belongs to the same machine.
 * - Peers in private networks are returned to private networks and to the registry's machine, since these are usually one
 *   LAN or one VPN; if they are not, the client's connection fails. They are not returned to the internet, where their
 *   addresses are useless and would reveal who has a file.
 * - Peers with a public address are returned to all clients. Two peers behind one router that reach the registry over
 *   the internet get its public address, which works only if the router supports hairpinning; clients also find each other
 *   there by local discovery (BEP 14).
 */
const reachesFrom: Record<Reach, readonly Reach[]> = {
  loopback: ['loopback', 'private', 'public'],
  private: ['private', 'public'],
  public: ['public'],
}

export function canConnect(from: string, to: string): boolean {
  return reachesFrom[classifyAddress(from)].includes(classifyAddress(to))
}

/** The kinds of addresses of peers to which a client at `address` can connect; `own` is this machine's address for it. */
export function usefulReaches(address: string, own: string | undefined): readonly Reach[] {
  const reach = classifyAddress(address)
  const reaches = reachesFrom[reach]
  return reach !== 'loopback' && own !== undefined ? [...reaches, 'loopback'] : reaches
}

/** The address under which a client at `from` can reach a peer. */
export function addressesFor(from: string, own: string | undefined): (address: string) => string {
  if (own === undefined || classifyAddress(from) === 'loopback') return (address) => address
  return (address) => (classifyAddress(address) === 'loopback' ? own : address)
}
