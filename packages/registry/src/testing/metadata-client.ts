import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { finished } from 'node:stream/promises'
import Wire from 'bittorrent-protocol'
import utMetadata from 'ut_metadata'

const encryptions = { none: 0, offered: 1, required: 2 } as const

/** Connects to a peer as common BitTorrent clients do, and performs the handshakes. */
export async function connectWire(
  port: number,
  infoHash: string,
  encryption: keyof typeof encryptions = 'none',
) {
  const socket = connect(port, '127.0.0.1')
  const closed = finished(socket).then(
    () => 'ended' as const,
    () => 'broken' as const,
  )
  const wire = new Wire('tcpOutgoing', encryptions[encryption])
  wire.use(utMetadata())
  socket.pipe(wire).pipe(socket)
  socket.on('error', () => wire.destroy())
  const shakeHands = () => wire.handshake(infoHash, randomBytes(20))
  if (encryption === 'none') {
    shakeHands()
  } else {
    wire.once('crypto-handshake', shakeHands)
    wire.startEncryption(infoHash)
  }
  return { wire, closed, leave: () => socket.destroy() }
}

/**
 * Requests a torrent's info dictionary from the peer and then disconnects. This is the first step of clients that have
 * only a magnet link.
 */
export async function fetchMetadata(
  port: number,
  infoHash: string,
  encryption?: keyof typeof encryptions,
): Promise<Buffer> {
  const { wire, leave } = await connectWire(port, infoHash, encryption)
  wire.ut_metadata.fetch()
  const [torrent] = await once(wire.ut_metadata, 'metadata')
  leave()
  return Buffer.from(torrent)
}
