import { BlockList, isIP } from 'node:net'

/**
 * The proxies to trust: none (false), a number of proxies at the end of the chain, or the proxies in a list of
 * networks.
 */
export type TrustedProxies = false | number | readonly string[]

/**
 * Whether to trust the proxy at this address. Hop 0 is the proxy that connected to the registry, hop 1 is the proxy
 * that connected to hop 0, and so on.
 */
export type TrustProxy = (address: string, hop: number) => boolean

export function toTrustProxy(proxies: TrustedProxies): TrustProxy | false {
  if (proxies === false) return false
  if (typeof proxies === 'number') return (_address, hop) => hop < proxies
  const trusted = new BlockList()
  for (const network of proxies) {
    const { address, bits, family } = parseNetwork(network) ?? {}
    if (address === undefined || bits === undefined)
      throw new RangeError(`not a network: ${network}`)
    trusted.addSubnet(address, bits, family)
  }
  return (address) => trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

/** Parses an address or a network, such as `10.0.0.0/8`. Returns undefined if the text is neither. */
export function parseNetwork(text: string) {
  const [address = '', suffix] = text.split('/')
  const version = isIP(address)
  const maxBits = version === 6 ? 128 : 32
  const bits = suffix === undefined ? maxBits : Number(suffix)
  const isValid = version !== 0 && Number.isInteger(bits) && bits >= 0 && bits <= maxBits
  if (!isValid || suffix === '') return undefined
  return { address, bits, family: version === 6 ? ('ipv6' as const) : ('ipv4' as const) }
}

/**
 * Finds the client's address in the same way as Fastify: it is the first untrusted address, starting with that of the
 * connection and going back through the proxies. If all addresses are trusted, returns the last one. Returns undefined
 * if the address found is empty.
 */
export function findForwardedAddress(
  trust: TrustProxy,
  connected: string,
  forwardedFor: string,
): string | undefined {
  const names = forwardedFor.split(',').map((name) => name.trim())
  const hops = [connected, ...names.reverse()]
  return (hops.find((address, hop) => !trust(address, hop)) ?? hops.at(-1)) || undefined
}
