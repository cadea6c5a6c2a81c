import { classifyAddress, plainAddress } from './ip-address.ts'

/**
 * Whether a server at `host` can be reached only from this machine. True for `localhost` and its subdomains (RFC 6761
 * §6.3), 127.0.0.0/8, `::1` and ::ffff:127.0.0.0/104. False for names such as `127.example.org`, which can resolve to
 * any address. An IPv6 address may be in brackets.
 */
export function isLoopback(host: string): boolean {
  const name = bareHost(host).toLowerCase().replace(/\.$/, '')
  return name === 'localhost' || name.endsWith('.localhost') || isLoopbackAddress(name)
}

/** Like `isLoopback`, but accepts only addresses, because any client can send the name `localhost`. */
export function isLoopbackAddress(text: string | undefined): boolean {
  const address = plainAddress(text)
  return address !== undefined && classifyAddress(address) === 'loopback'
}

/** Removes the brackets that IPv6 addresses have in URLs. */
export const bareHost = (host: string): string => host.replace(/^\[(.*)\]$/, '$1')
