import type { Reach } from '@shoal/core/addresses'
import { classifyAddress } from '@shoal/core/addresses'

/*
 * Decides which peers are returned to which clients. An address is useful only to some clients: 127.0.0.1 on the same
 * machine, 192.168.1.7 in the same LAN. A registry often runs on a machine in a LAN and serves the users of that LAN,
 * and one of these users may seed on the registry's machine. Therefore:
 *
 * - Peers on the registry's machine announce from a loopback address. Other clients on that machine receive the
 *   loopback address. All other clients receive the address at which they reached the registry (`own-address.ts`),
 *   because it belongs to the same machine.
 * - Peers in private networks are returned to clients in private networks and on the registry's machine, because all of
 *   these usually belong to one LAN or VPN. If they do not, the client's connection fails. Peers in private networks
 *   are not returned to clients on the internet, because their addresses would be useless there, and would reveal who
 *   has a file.
 * - Peers with a public address are returned to all clients. If two peers behind the same router reach the registry
 *   over the internet, they receive the router's public address, which works only if the router supports hairpinning.
 *   Such clients also find each other by local discovery (BEP 14).
 */
const reachesFrom: Record<Reach, readonly Reach[]> = {
  loopback: ['loopback', 'private', 'public'],
  private: ['private', 'public'],
  public: ['public'],
}

export function canConnect(from: string, to: string): boolean {
  return reachesFrom[classifyAddress(from)].includes(classifyAddress(to))
}

/**
 * Returns the kinds of peer addresses to which a client at `address` can connect. `own` is this machine's address for
 * that client.
 */
export function usefulReaches(address: string, own: string | undefined): readonly Reach[] {
  const reach = classifyAddress(address)
  const reaches = reachesFrom[reach]
  return reach !== 'loopback' && own !== undefined ? [...reaches, 'loopback'] : reaches
}

/**
 * Returns a function that converts a peer's address into the address at which a client at `from` can reach that peer.
 */
export function addressesFor(from: string, own: string | undefined): (address: string) => string {
  if (own === undefined || classifyAddress(from) === 'loopback') return (address) => address
  return (address) => (classifyAddress(address) === 'loopback' ? own : address)
}
