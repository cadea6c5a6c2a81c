import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import WebTorrent from 'webtorrent'
import { connectWire, fetchMetadata } from '../testing/metadata-client.ts'
import { bigInfo, bigInfoHash, startTestPeer } from '../testing/metadata-peer.ts'
import {
  askFor,
  extended,
  extensionHandshake,
  handshake,
  message,
} from '../testing/peer-messages.ts'

const torrent = Buffer.concat([Buffer.from('d4:info'), bigInfo, Buffer.from('e')])
const asksForAll = [0, 1, 2, 3, 4, 5, 6].map(askFor)

/**
 * Collects everything received until the connection ends. A client that is still sending when the connection is closed
 * may receive a reset, which is ignored.
 */
async function everythingFrom(socket: Socket): Promise<Buffer> {
  const pieces: Buffer[] = []
  socket.on('data', (piece) => pieces.push(piece))
  socket.on('error', () => socket.destroy())
  await new Promise((resolve) => socket.once('close', resolve))
  return Buffer.concat(pieces)
}

async function answerTo(port: number, ...sent: Uint8Array[]): Promise<Buffer> {
  const socket = connect(port, '127.0.0.1')
  socket.write(Buffer.concat(sent))
  return everythingFrom(socket)
}

/** Returns the messages after the handshake, as `[type, payload]`. */
function messagesIn(answer: Buffer): [number, Buffer][] {
  const messages: [number, Buffer][] = []
  for (let at = 68; at < answer.length; ) {
    const end = at + 4 + answer.readUInt32BE(at)
    messages.push([answer.readUInt8(at + 4), answer.subarray(at + 5, end)])
    at = end
  }
  return messages
}

describe('a client that has only a magnet link', () => {
  test.each(['none', 'offered', 'required'] as const)(
    'gets the metadata, and its connection then ends cleanly (encryption: %s)',
    async (encryption) => {
      const { peer, count } = await startTestPeer()
      const { wire, closed } = await connectWire(peer.port, bigInfoHash, encryption)
      wire.ut_metadata.fetch()
      const [fetched] = await once(wire.ut_metadata, 'metadata')
      expect(torrent.equals(fetched)).toBe(true)
      expect(await closed).toBe('ended')
      expect(await count('connections')).toBe(1)
      expect(await count('served')).toBe(1)
      expect(await count('refused')).toBe(0)
    },
  )

  test('gets the metadata if it is webtorrent, which encrypts its connections', async () => {
    const { peer } = await startTestPeer()
    const folder = await mkdtemp(join(tmpdir(), 'shoal-webtorrent-'))
    const alone = {
      dht: false,
      lsd: false,
      tracker: false,
      natUpnp: false,
      natPmp: false,
      utp: false,
    }
    const client = new WebTorrent(alone)
    try {
      const magnet = `magnet:?xt=urn:btih:${bigInfoHash}&x.pe=127.0.0.1:${peer.port}`
      const added = client.add(magnet, { path: folder })
      await once(added, 'metadata')
      expect(Buffer.from(added.torrentFile).includes(bigInfo)).toBe(true)
    } finally {
      await new Promise((resolve) => client.destroy(resolve))
      await rm(folder, { recursive: true })
    }
  })

  test('can be one of many clients at the same time', async () => {
    const { peer, count } = await startTestPeer()
    const fetched = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        fetchMetadata(peer.port, bigInfoHash, index % 2 === 0 ? 'none' : 'required'),
      ),
    )
    expect(fetched.every((each) => each.equals(torrent))).toBe(true)
    expect(await count('served')).toBe(30)
  })

  test('may request all blocks at once, and gets each block with the message ID that it declared', async () => {
    const { peer } = await startTestPeer()
    const answer = await answerTo(
      peer.port,
      handshake(bigInfoHash),
      extensionHandshake,
      ...asksForAll,
    )
    const [[, handshakePayload] = [], ...blocks] = messagesIn(answer)
    expect(handshakePayload?.toString('latin1')).toBe(
      `\0d1:md11:ut_metadatai1ee13:metadata_sizei${bigInfo.length}e1:v5:shoale`,
    )
    const given = blocks.map(([type, payload], block) => {
      const header = `d8:msg_typei1e5:piecei${block}e10:total_sizei${bigInfo.length}ee`
      expect([type, payload[0]]).toEqual([20, 3])
      expect(payload.subarray(1, 1 + header.length).toString('latin1')).toBe(header)
      return payload.subarray(1 + header.length)
    })
    expect(Buffer.concat(given).equals(bigInfo)).toBe(true)
  })

  test('gets a reject for a block that does not exist', async () => {
    const { peer } = await startTestPeer()
    const answer = await answerTo(
      peer.port,
      ...[handshake(bigInfoHash), extensionHandshake, askFor(7), askFor(-1), askFor(4_294_967_296)],
      ...asksForAll,
    )
    const refusals = messagesIn(answer).slice(1, 4)
    expect(refusals.map(([, payload]) => payload.toString('latin1'))).toEqual([
      '\x03d8:msg_typei2e5:piecei7ee',
      '\x03d8:msg_typei2e5:piecei-1ee',
      '\x03d8:msg_typei2e5:piecei4294967296ee',
    ])
  })
})

describe('any other client', () => {
  test('finds a peer that has no pieces, never unchokes and sends no file data', async () => {
    const { peer } = await startTestPeer()
    const bitfield = message(5, Buffer.alloc(625, 255))
    const interested = message(2)
    const piece = message(6, Buffer.from('000000000000000000004000', 'hex'))
    const answer = await answerTo(
      peer.port,
      ...[handshake(bigInfoHash), bitfield, interested, piece, piece, extensionHandshake],
      ...asksForAll,
    )
    expect(messagesIn(answer).map(([type]) => type)).toEqual(Array(8).fill(20))
  })

  test('is disconnected immediately if it already has the metadata', async () => {
    const { peer, count } = await startTestPeer()
    const ownHandshake = extended(0, 'd1:md11:ut_metadatai3ee13:metadata_sizei100196ee')
    const answer = await answerTo(peer.port, handshake(bigInfoHash), ownHandshake)
    expect(messagesIn(answer)).toHaveLength(1)
    expect([await count('served'), await count('refused')]).toEqual([0, 0])
  })

  test('is disconnected after a timeout if it only sends keep-alives', async () => {
    const { peer } = await startTestPeer({ limits: { idleMs: 300 } })
    const socket = connect(peer.port, '127.0.0.1')
    socket.write(handshake(bigInfoHash))
    const alive = setInterval(() => socket.write(Buffer.alloc(4)), 50)
    const answer = await everythingFrom(socket)
    clearInterval(alive)
    expect(messagesIn(answer)).toHaveLength(1)
  })
})

describe('the connection is closed for', () => {
  const unknown = '00'.repeat(20)
  test.each([
    ['a client that requests an unknown torrent', [handshake(unknown)]],
    ['a peer without extensions', [handshake(bigInfoHash, '00'.repeat(8))]],
    ['another protocol', [Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(50))]],
    ['a key of zeros', [Buffer.alloc(700)]],
    ['a key outside its group', [Buffer.alloc(700, 255)]],
    ['noise', [Buffer.from('7'.repeat(2000))]],
  ])('%s', async (_who, sent) => {
    const { peer, count } = await startTestPeer()
    const answer = await answerTo(peer.port, ...sent)
    expect(answer.includes('BitTorrent')).toBe(false)
    expect(await count('refused')).toBe(1)
  })

  test.each(['none', 'required'] as const)(
    'a client that requests an unknown torrent (encryption: %s)',
    async (encryption) => {
      const { peer, count } = await startTestPeer()
      const { closed } = await connectWire(peer.port, unknown, encryption)
      await closed
      expect(await count('refused')).toBe(1)
    },
  )

  test.each([
    ['a message that is too long', message(5, Buffer.alloc(17_000))],
    ['a length of four billion', Buffer.from('ffffffff14', 'hex')],
    ['a request before the message ID for responses', askFor(0)],
    [
      'an invalid message ID for responses',
      Buffer.concat([extended(0, 'd1:md11:ut_metadatai700eee'), askFor(0)]),
    ],
    ['bencoded text with an unknown type', extended(0, 'd1:mxe')],
    ['nested bencoded lists', extended(0, 'l'.repeat(9_000))],
    ['a bencoded length beyond the end', extended(0, 'd99999:m')],
    [
      'the same request repeated too often',
      Buffer.concat([extensionHandshake, ...Array(22).fill(askFor(0))]),
    ],
    ['too many messages', Buffer.concat(Array(60_000).fill(message(4, Buffer.alloc(4))))],
  ])('%s', async (_what, sent) => {
    const { peer, count } = await startTestPeer()
    await answerTo(peer.port, handshake(bigInfoHash), sent)
    expect(await count('refused')).toBe(1)
  })

  test('a client that takes too long for the handshake', async () => {
    const { peer, count } = await startTestPeer({ limits: { handshakeMs: 300 } })
    const socket = connect(peer.port, '127.0.0.1')
    const bytes = handshake(bigInfoHash)
    let sent = 0
    const slowly = setInterval(() => socket.write(bytes.subarray(sent, ++sent)), 50)
    await everythingFrom(socket)
    clearInterval(slowly)
    expect(sent).toBeLessThan(bytes.length)
    expect(await count('refused')).toBe(1)
  })
})

describe('the peer', () => {
  test('listens on every address of its host, on the same port', async () => {
    const { peer } = await startTestPeer({ host: 'localhost' })
    for (const { address } of await lookup('localhost', { all: true })) {
      await once(connect(peer.port, address).end(), 'connect')
    }
  })

  test('does not start if its port is in use, and the error contains the name of the setting', async () => {
    const { peer } = await startTestPeer()
    await expect(startTestPeer({ port: peer.port })).rejects.toThrow(/^SHOAL_PEER_PORT: .*in use/)
  })
})

describe('connections', () => {
  test('are limited per address, and freed slots are reused', async () => {
    const { peer, count } = await startTestPeer({ limits: { maxPerNetwork: 3 } })
    const open = Array.from({ length: 3 }, () => connect(peer.port, '127.0.0.1'))
    await Promise.all(open.map((socket) => once(socket, 'connect')))
    expect(await answerTo(peer.port, handshake(bigInfoHash))).toHaveLength(0)
    expect(await count('refused')).toBe(1)
    for (const socket of open) socket.destroy()
    await expect
      .poll(() => fetchMetadata(peer.port, bigInfoHash).catch(() => undefined))
      .toBeDefined()
  })

  test('keep their slot for some time after a refusal', async () => {
    const { peer } = await startTestPeer({ limits: { maxPerNetwork: 1, refusedMs: 600_000 } })
    await answerTo(peer.port, handshake('00'.repeat(20)))
    expect(await answerTo(peer.port, handshake(bigInfoHash))).toHaveLength(0)
  })

  test('end when the peer is closed', async () => {
    const { peer } = await startTestPeer()
    const socket = connect(peer.port, '127.0.0.1')
    await once(socket, 'connect')
    await peer.close()
    await once(socket.resume(), 'close')
  })

  test('end if the source fails, and the failure is logged', async () => {
    const failing = async () => {
      throw new Error('no database')
    }
    const { peer, warnings } = await startTestPeer({
      source: { find: failing, findInfoHash: failing },
    })
    expect(await answerTo(peer.port, handshake(bigInfoHash))).toHaveLength(0)
    expect(warnings).toEqual(['the metadata peer could not serve a connection'])
  })
})
