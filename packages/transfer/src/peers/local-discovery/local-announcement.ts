/**
 * The packets with which peers announce themselves on a local network (BEP 14,
 * https://www.bittorrent.org/beps/bep_0014.html). Each datagram resembles an HTTP request.
 */

export type LocalAnnouncement = {
  /** The port on which the sender listens for peers. */
  port: number
  /** In lowercase hexadecimal digits. */
  infoHashes: string[]
  /** A value by which the sender recognizes its own packets. */
  cookie: string | undefined
}

/** Maximum length of a packet (BEP 14). Longer packets might be fragmented. */
const maxPacketBytes = 1400
const infoHashLineBytes = 'Infohash: \r\n'.length + 40
/**
 * If there are at most this many torrents, each is announced in its own packet, because Transmission 3 rejects packets
 * of more than 200 bytes. If there are more, they share packets, because BEP 14 asks for few packets.
 */
const maxAlone = 5

/** Returns the packets that announce all `infoHashes`. `host` is the multicast group, with its port. */
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

/** Parses a packet. Returns undefined if it is not an announcement. Unknown lines are ignored, as BEP 14 requires. */
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

/**
 * Whether a peer may have this port. Lower ports belong to system services, to which no packet should make us connect;
 * webtorrent does not accept port 65535.
 */
const isPeerPort = (port: number) => port >= 1024 && port < 65_535
