import { classifyAddress, plainAddress } from './ip-address.ts'

/**
 * Whether only programs on this machine can reach a server at `host`: `localhost` and the names under it (RFC 6761 §6.3),
 * 127.0.0.0/8, `::1` and ::ffff:127.0.0.0/104. Not a name such as `127.example.org`, which may lead anywhere. IPv6 may stand in
 * brackets.
 */
export function isLoopback(host: string): boolean {
  const name = bareHost(host).toLowerCase().replace(/\.$/, '')
  return name === 'localhost' || name.endsWith('.localhost') || isLoopbackAddress(name)
}

/** The same for addresses only: anyone may send the name `localhost`. */
export function isLoopbackAddress(text: string | undefined): boolean {
  const address = plainAddress(text)
  return address !== undefined && classifyAddress(address) === 'loopback'
}

/** Without the brackets that IPv6 has in URLs. */
export const bareHost = (host: string): string => host.replace(/^\[(.*)\]$/, '$1')
