import { BlockList, isIPv6 } from 'node:net'
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os'
import { isSystemError } from '../../system-error.ts'

/** An address of this machine on a network with other machines. */
export type LocalNetwork = {
  /** The name of the network interface. */
  name: string
  family: 'IPv4' | 'IPv6'
  address: string
  /** The network's address range in CIDR notation, such as `192.168.1.5/24`. */
  cidr: string
  /** Whether machines on this network can connect to us. */
  isReachable: boolean
  /**
   * The source address of our announcements, at which peers can reach us: an address, or `::` if the system chooses it.
   */
  speaksFrom: string
}

/** Returns the networks of a client that listens on `host`; none if it listens on loopback. */
export function findLocalNetworks(host: string): LocalNetwork[] {
  const isAnywhere = host === '0.0.0.0' || host === '::'
  return Object.entries(findInterfaces()).flatMap(([name, addresses = []]) =>
    addresses
      .filter(({ internal, address }) => !internal && (isAnywhere || address === host))
      .flatMap((one) => toLocalNetworks(name, one, host)),
  )
}

/**
 * Returns the network interfaces; none if the system cannot list them, as in some sandboxes or when all file
 * descriptors are in use.
 */
export function findInterfaces(): NodeJS.Dict<NetworkInterfaceInfo[]> {
  try {
    return networkInterfaces()
  } catch (error) {
    if (!isSystemError(error)) throw error
    return {}
  }
}

function toLocalNetworks(
  name: string,
  { family, address, cidr }: NetworkInterfaceInfo,
  host: string,
): LocalNetwork[] {
  if (cidr === null) return [] // its network mask is invalid
  const isReachable = family === 'IPv4' || host !== '0.0.0.0'
  const speaksFrom = family === 'IPv6' && host !== address ? '::' : address
  return [{ name, family, address, cidr, isReachable, speaksFrom }]
}

/** Returns the first address of each family on each interface, so that a packet is sent to each interface only once. */
export function pickOnePerInterface(networks: LocalNetwork[]): LocalNetwork[] {
  const getKey = ({ name, family }: LocalNetwork) => `${family} ${name}`
  return [...Map.groupBy(networks, getKey).values()].flatMap((group) => group.slice(0, 1))
}

/**
 * Returns the address of each interface from which to announce: an IPv4 address if there is one. Peers that heard us
 * over both families would connect to us twice, because peers with different addresses count as different peers.
 */
export function pickForAnnouncing(networks: LocalNetwork[]): LocalNetwork[] {
  const reachable = pickOnePerInterface(networks.filter(({ isReachable }) => isReachable))
  const withIpv4 = reachable.filter(({ family }) => family === 'IPv4').map(({ name }) => name)
  return reachable.filter(({ family, name }) => family === 'IPv4' || !withIpv4.includes(name))
}

/**
 * Returns a function that checks whether an address belongs to one of the networks, so that packets from elsewhere can
 * be ignored.
 */
export function onLink(networks: LocalNetwork[]): (address: string) => boolean {
  const subnets = new BlockList()
  for (const { cidr, family } of networks) {
    const [address = '', bits] = cidr.split('/')
    subnets.addSubnet(address, Number(bits), family === 'IPv6' ? 'ipv6' : 'ipv4')
  }
  return (address) => {
    const [bare = ''] = address.split('%') // fe80::1%eth0
    return subnets.check(bare, isIPv6(bare) ? 'ipv6' : 'ipv4')
  }
}
