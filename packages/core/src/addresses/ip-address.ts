/** Where an address can be reached from: this machine, a private network, or the internet. */
export type Reach = 'loopback' | 'private' | 'public'

/**
 * Returns the version of an IP address (4 or 6), or undefined if the address is not valid. An IPv6 address can have a
 * zone.
 */
export function ipVersion(text: string): 4 | 6 | undefined {
  if (isIpv4(text)) return 4
  return parseGroups(text.replace(/%[0-9a-z.:-]+$/i, '')) === undefined ? undefined : 6
}

/**
 * Normalizes an address for comparison and storage: removes the zone, and converts an IPv4-mapped IPv6 address to IPv4.
 * Returns undefined if the address is not valid.
 */
export function plainAddress(text: string | undefined): string | undefined {
  if (text === undefined || ipVersion(text) === undefined) return undefined
  const bare = text.replace(/%.*$/, '').toLowerCase()
  return (bare.includes(':') && wrappedIpv4(bare)) || bare
}

/** Determines where an address can be reached from. The address must be normalized with `plainAddress`. */
export function classifyAddress(address: string): Reach {
  const ipv4 = address.includes(':') ? wrappedIpv4(address) : address
  return ipv4 === undefined ? reachOfIpv6(address) : reachOfIpv4(ipv4)
}

function reachOfIpv4(address: string): Reach {
  const [a = 0, b = 0] = address.split('.', 2).map(Number)
  if (a === 127) return 'loopback'
  const isPrivate =
    a === 10 ||
    (a === 172 && b >= 16 && b < 32) ||
    (a === 192 && b === 168) ||
    (a === 100 && b >= 64 && b < 128) || // carrier-grade NAT and overlay networks
    (a === 169 && b === 254)
  return isPrivate ? 'private' : 'public'
}

/** Addresses in fc00::/7 are valid only within an organization. Addresses in fe80::/10 are valid only on one link. */
function reachOfIpv6(address: string): Reach {
  const groups = parseGroups(address) ?? []
  const [first = 0] = groups
  if (groups.every((group, index) => group === (index === 7 ? 1 : 0))) return 'loopback'
  return (first & 0xfe00) === 0xfc00 || (first & 0xffc0) === 0xfe80 ? 'private' : 'public'
}

/** The IPv4 address in an IPv4-mapped IPv6 address (::ffff:0:0/96), in any notation (RFC 4291 §2.5.5.2). */
function wrappedIpv4(address: string): string | undefined {
  if (!/^[0:]*:ffff:/i.test(address)) return undefined
  const groups = parseGroups(address) ?? []
  const [mark, high = 0, low = 0] = groups.slice(5)
  const isWrapped = mark === 0xffff && groups.slice(0, 5).every((group) => group === 0)
  return isWrapped ? [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.') : undefined
}

const byte = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
const ipv4 = new RegExp(`^${byte}(?:\\.${byte}){3}$`)

const isIpv4 = (text: string): boolean => ipv4.test(text)

/**
 * The eight 16-bit groups of an IPv6 address without a zone. The last two groups may be written as an IPv4 address, as
 * in `64:ff9b::192.0.2.33` (RFC 4291 §2.2). The text is parsed digit by digit for speed, because a tracker response has
 * up to 200 addresses.
 */
function parseGroups(text: string): number[] | undefined {
  const groups: number[] = []
  let gapAt = text.startsWith('::') ? 0 : -1
  let at = gapAt === 0 ? 2 : 0
  while (at < text.length) {
    const start = at
    let value = 0
    for (let digit = hexDigit(text, at); digit >= 0; digit = hexDigit(text, at)) {
      value = value * 16 + digit
      at += 1
    }
    const next = text.charCodeAt(at)
    if (next === dot) {
      const ending = text.slice(start)
      if (!isIpv4(ending)) return undefined
      groups.push(...readPairs(packedIpv4(ending)))
      break
    }
    if (at === start || at > start + 4) return undefined
    groups.push(value)
    if (at === text.length) break
    if (next !== colon || at + 1 === text.length) return undefined
    at += 1
    if (text.charCodeAt(at) !== colon) continue
    if (gapAt >= 0) return undefined
    gapAt = groups.length
    at += 1
  }
  if (gapAt < 0) return groups.length === 8 ? groups : undefined
  if (groups.length > 7) return undefined
  return groups.toSpliced(gapAt, 0, ...zeros.slice(groups.length))
}

const zeros = [0, 0, 0, 0, 0, 0, 0, 0]

/** The value of the hexadecimal digit at a position; -1 if there is none. */
function hexDigit(text: string, at: number): number {
  const code = text.charCodeAt(at)
  if (code >= zero && code <= zero + 9) return code - zero
  const letter = (code | 0x20) - letterA
  return letter >= 0 && letter < 6 ? letter + 10 : -1
}

const readPairs = (packed: string): [number, number] => [
  packed.charCodeAt(0) * 256 + packed.charCodeAt(1),
  packed.charCodeAt(2) * 256 + packed.charCodeAt(3),
]

/** Returns the 4 or 16 bytes of an address as a string with one character for each byte. */
export function packedAddress(address: string): string {
  if (!address.includes(':')) return packedIpv4(address)
  let packed = ''
  for (const group of parseGroups(address) ?? []) {
    packed += String.fromCharCode(group >> 8, group & 0xff)
  }
  return packed
}

/** Parses the text digit by digit, which is five times as fast as `split`. */
function packedIpv4(address: string): string {
  let packed = ''
  let byte = 0
  for (let at = 0; at < address.length; at += 1) {
    const code = address.charCodeAt(at)
    if (code === dot) {
      packed += String.fromCharCode(byte)
      byte = 0
    } else {
      byte = byte * 10 + code - zero
    }
  }
  return packed + String.fromCharCode(byte)
}

const dot = '.'.charCodeAt(0)
const zero = '0'.charCodeAt(0)
const colon = ':'.charCodeAt(0)
const letterA = 'a'.charCodeAt(0)

/** The network that a single household or host controls: an IPv4 address, or the /64 prefix of an IPv6 address. */
export function getNetwork(address: string): string {
  return address.includes(':') ? packedAddress(address).slice(0, 8) : address
}
