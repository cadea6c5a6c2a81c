import { BlockList, isIPv6 } from 'node:net'
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os'
import { isSystemError } from '../../system-error.ts'

/** An address of this machine in a network that others are in too. */
export type LocalNetwork = {
  /** Of the interface. */
  name: string
  family: 'IPv4' | 'IPv6'
  address: string
  /** The addresses of the network, as in `192.168.1.5/24`. */
  cidr: string
  /** Whether somebody there can connect to us. */
  isReachable: boolean
  /** Where our announcements come from, at which we are to be found: an address, or `::` where the system knows best. */
  speaksFrom: string
}

/** Where there may be others for somebody who listens on `host`: nowhere, on loopback. */
export function findLocalNetworks(host: string): LocalNetwork[] {
  const isAnywhere = host === '0.0.0.0' || host === '::'
  return Object.entries(findInterfaces()).flatMap(([name, addresses = []]) =>
    addresses
      .filter(({ internal, address }) => !internal && (isAnywhere || address === host))
      .flatMap((one) => toLocalNetworks(name, one, host)),
  )
}

/** None where the system does not tell: in some sandboxes, or when there is no file descriptor left. */
function findInterfaces(): NodeJS.Dict<NetworkInterfaceInfo[]> {
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
  if (cidr === null) return [] // its mask is none
  const isReachable = family === 'IPv4' || host !== '0.0.0.0'
  const speaksFrom = family === 'IPv6' && host !== address ? '::' : address
  return [{ name, family, address, cidr, isReachable, speaksFrom }]
}

/** Of several addresses on one interface the first of each family: a packet goes there once. */
export function pickOnePerInterface(networks: LocalNetwork[]): LocalNetwork[] {
  const getKey = ({ name, family }: LocalNetwork) => `${family} ${name}`
  return [...Map.groupBy(networks, getKey).values()].flatMap((group) => group.slice(0, 1))
}

/** Whether an address is on the same link as we are: nobody on the internet is, whatever they send us. */
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
