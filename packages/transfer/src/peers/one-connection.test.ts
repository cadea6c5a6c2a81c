import { once } from 'node:events'
import { infoDictionary, torrentFile } from '@shoal/model-file'
import { expect, onTestFinished, test } from 'vitest'
import { createPieceStoreClass } from './piece-store.ts'
import { torrentClient } from './torrent-client.ts'

/** A file of one piece. */
const file = { fileSizeBytes: 5, pieceLength: 16_384 }
const content = { filename: 'one', ...file, pieceHashes: new Uint8Array(20), isPrivate: false }
const torrentBytes = torrentFile({ info: infoDictionary(content), webSeeds: [] })

/** Starts a member of a swarm, and counts its connections. */
async function member({ host = '127.0.0.1', seedOutgoingConnections = true } = {}) {
  const client = torrentClient({
    host,
    port: 0,
    uploadLimit: undefined,
    seedOutgoingConnections,
  })
  onTestFinished(() => new Promise<void>((resolve) => client.destroy(() => resolve())))
  const torrent = client.add(torrentBytes, {
    store: createPieceStoreClass({ fd: -1, ...file }),
    bitfield: new Uint8Array(1), // nothing is on disk, and nothing is read
    deselect: true,
  })
  const one = { client, torrent, seen: 0, address: '' }
  torrent.on('wire', () => {
    one.seen += 1
  })
  await once(torrent, 'ready')
  if (!client.listening) await once(client, 'listening')
  one.address = `127.0.0.1:${client.torrentPort}`
  return one
}

test.each(['127.0.0.1', '::'])(
  'two peers that listen on %s and connect to each other keep only one connection',
  async (host) => {
    const [ana, ben] = [await member({ host }), await member({ host })]
    ana.torrent.addPeer(ben.address)
    ben.torrent.addPeer(ana.address)
    // Both clients see the connection that is kept; at least one of them sees the other connection.
    await expect.poll(() => ana.seen + ben.seen).toBeGreaterThanOrEqual(3)
    const connections = () => [ana.torrent.wires.length, ben.torrent.wires.length]
    await expect.poll(connections).toEqual([1, 1])
    const [kept] = ana.torrent.wires
    const opener = ana.client.peerId < ben.client.peerId ? 'tcpOutgoing' : 'tcpIncoming'
    expect(kept?.type).toBe(opener)
  },
)

test('if the kept connection breaks, the other one is opened again', async () => {
  const [ana, ben] = [await member(), await member()]
  ana.torrent.addPeer(ben.address)
  ben.torrent.addPeer(ana.address)
  const connections = () => [ana.torrent.wires.length, ben.torrent.wires.length]
  await expect.poll(() => ana.seen + ben.seen).toBeGreaterThanOrEqual(3)
  await expect.poll(connections).toEqual([1, 1])
  const before = ana.torrent.wires[0]
  before?.destroy()
  await expect.poll(() => ana.torrent.wires.filter((wire) => wire !== before).length).toBe(1)
})
