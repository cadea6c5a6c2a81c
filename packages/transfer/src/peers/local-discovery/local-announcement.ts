/**
 * What peers in a local network tell each other: the packet of BEP 14, https://www.bittorrent.org/beps/bep_0014.html.
 * It looks like HTTP, one in a datagram.
 */

export type LocalAnnouncement = {
  /** Where the sender listens for peers. */
  port: number
  /** In small hexadecimal digits. */
  infoHashes: string[]
  /** A word by which the sender knows its own packets. */
  cookie: string | undefined
}

/** BEP 14: longer ones might be cut up on their way. */
const maxPacketBytes = 1400
const infoHashLineBytes = 'Infohash: \r\n'.length + 40
/** So few go in a packet each, since Transmission 3 takes none of more than 200 bytes. BEP 14 asks for fewer packets above this. */
const maxAlone = 5

/** The packets that tell all of `infoHashes`. `host` is the group that they go to, with its port. */
export function composeAnnouncements(
  host: string,
  { port, infoHashes, cookie }: LocalAnnouncement,
): string[] {
  const head = `BT-SEARCH * HTTP/1.1\r\nHost: ${host}\r\nPort: ${port}\r\n`
  const tail = `${cookie === undefined ? '' : `cookie: ${cookie}\r\n`}\r\n\r\n`
  const room = maxPacketBytes - head.length - tail.length
  const inOne = infoHashes.length <= maxAlone ? 1 : Math.floor(room / infoHashLineBytes)
  return Array.from({ length: Math.ceil(infoHashes.length / inOne) }, (_, index) => {
    const some = infoHashes.slice(index * inOne, (index + 1) * inOne)
    return head + some.map((infoHash) => `Infohash: ${infoHash}\r\n`).join('') + tail
  })
}

/** Undefined for whatever is no announcement. Lines that mean nothing to us are passed over, as BEP 14 wants. */
export function parseAnnouncement(packet: Buffer): LocalAnnouncement | undefined {
  if (packet.length > maxPacketBytes) return undefined
  const [request = '', ...lines] = packet.toString('latin1').split('\r\n')
  if (!/^BT-SEARCH \* HTTP\/1\.\d$/.test(request)) return undefined
  let port = 0
  let cookie: string | undefined
  const infoHashes = new Set<string>()
  for (const line of lines) {
    const [, name = '', rest = ''] = /^([a-z]+):(.*)$/i.exec(line) ?? []
    const field = name.toLowerCase()
    const value = rest.trim()
    if (field === 'port') port = /^\d{1,5}$/.test(value) ? Number(value) : 0
    else if (field === 'cookie') cookie = value
    else if (field === 'infohash' && /^[0-9a-f]{40}$/i.test(value)) {
      infoHashes.add(value.toLowerCase())
    }
  }
  if (!isPeerPort(port) || infoHashes.size === 0) return undefined
  return { port, infoHashes: [...infoHashes], cookie }
}

/** Those below belong to services of the system, which nobody shall make us knock at; webtorrent takes none of 65535. */
const isPeerPort = (port: number) => port >= 1024 && port < 65_535
