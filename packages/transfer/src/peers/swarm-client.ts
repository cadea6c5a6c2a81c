/** One torrent among its peers, by webtorrent. Runs in a thread of its own, which `swarm-thread.ts` is. */
import { createHash } from 'node:crypto'
import { closeSync, openSync, readSync } from 'node:fs'
import { pieceLengthFor } from '@shoal/model-file'
import { type Network, openNetwork, useForFetch } from '@shoal/network/requests'
import type Wire from 'bittorrent-protocol'
import type WebTorrent from 'webtorrent'
import type { Torrent } from 'webtorrent'
import { startLocalDiscovery } from './local-discovery.ts'
import { pieceStoreOf } from './piece-store.ts'
import { RegistryWire } from './registry-wire.ts'
import {
  type Contact,
  type FromSwarm,
  registryName,
  type SwarmSetup,
  type ToSwarm,
} from './swarm-messages.ts'
import { torrentClient } from './torrent-client.ts'

const tellEveryMs = 250
const mostConnections = 60
/** Pieces that the registry is asked for at a time. */
const mostRegistryRequests = 4

/** Resolves once it listens. Tells by `tell` what happens. */
export async function joinSwarm(
  setup: SwarmSetup,
  contact: Contact,
  tell: (message: FromSwarm) => void,
) {
  const fd = openSync(setup.path, 'r+')
  const { host } = setup
  const network = openNetwork(setup.network, { connections: mostRegistryRequests })
  useForFetch(network) // by which webtorrent asks trackers
  const { client, torrent } = await openTorrent(setup, contact, fd)
  const fail = (error: unknown) => tell({ event: 'failed', message: String(error) })
  client.on('error', fail)
  torrent.on('error', fail)
  const senders = watchSenders(torrent, (peer) => tell({ event: 'banned', peer }))
  const registry = registryAmongPeers(torrent, {
    network,
    fileSizeBytes: setup.fileSizeBytes,
    bytesFromPeers: senders.bytesFromPeers,
  })
  torrent.on('verified', (index: number) => {
    tell({ event: 'piece', index, senders: senders.of(index) })
  })
  const telling = setInterval(() => {
    registry.look()
    const count = torrent.wires.filter(({ type }) => type !== 'webSeed').length
    tell({ event: 'peers', count })
  }, tellEveryMs)
  for (const peer of contact.peers) torrent.addPeer(peer)
  const discovery = setup.isLocalDiscoveryOn ? discover(host, client, torrent) : undefined
  tell({ event: 'ready', port: client.torrentPort, pieceLength: torrent.pieceLength })

  return {
    obey(message: Exclude<ToSwarm, { call: 'close' | 'join' }>) {
      if (message.call === 'want') want(torrent, { fd, ...message })
      else if (message.call === 'leave') torrent.deselect(message.from, message.to)
      else if (message.call === 'have') offer(torrent, message)
      else registry.use(message.urls)
    },

    async close() {
      clearInterval(telling)
      discovery?.close()
      await new Promise<void>((resolve) => client.destroy(() => resolve()))
      await network.destroy()
      closeSync(fd)
    },
  }
}

/** On another port where somebody has taken that of `contact` in the meantime. */
async function openTorrent(setup: SwarmSetup, contact: Contact, fd: number) {
  const { host, downloadLimit, uploadLimit } = setup
  const { port, peerId } = contact
  const client = torrentClient({
    host,
    port,
    downloadLimit,
    uploadLimit,
    maxConns: mostConnections,
    ...(peerId !== undefined && { peerId: Buffer.from(peerId).toString('hex') }),
  })
  try {
    return { client, torrent: await add(client, setup, fd) }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || port === 0) throw error
    return openTorrent(setup, { ...contact, port: 0 }, fd)
  }
}

async function add(client: WebTorrent, setup: SwarmSetup, fd: number): Promise<Torrent> {
  const { fileSizeBytes } = setup
  const pieceLength = pieceLengthFor(fileSizeBytes)
  const pieces = Math.ceil(fileSizeBytes / pieceLength)
  const settings = {
    store: pieceStoreOf({ fd, pieceLength, fileSizeBytes }),
    storeCacheSlots: 0, // the system's cache has them already
    strategy: 'rarest',
    deselect: true,
    bitfield: new Uint8Array(Math.ceil(pieces / 8)), // without it the whole file would be hashed
    maxWebConns: mostRegistryRequests,
  }
  const torrent = await new Promise<Torrent>((resolve, reject) => {
    client.once('error', reject)
    client.add(setup.torrent, settings, (added) => {
      client.off('error', reject)
      resolve(added)
    })
  })
  if (torrent.length === fileSizeBytes && torrent.pieceLength === pieceLength) return torrent
  throw new Error('the torrent is not of this file')
}

function discover(host: string, client: WebTorrent, torrent: Torrent) {
  const port = () => client.torrentPort
  const discovery = startLocalDiscovery({ host, port, torrents: () => [torrent] })
  discovery.announceSoon()
  return discovery
}

/** What a former run left of these pieces need not come again: they are looked at first. */
function want(torrent: Torrent, { fd, from, to }: { fd: number; from: number; to: number }) {
  const bytes = new Uint8Array(torrent.pieceLength)
  for (let index = from; index <= to; index += 1) {
    if (torrent.bitfield.get(index)) continue
    const size = index === torrent.pieces.length - 1 ? torrent.lastPieceLength : bytes.length
    const count = readSync(fd, bytes, 0, size, index * bytes.length)
    const sha1 = createHash('sha1').update(bytes.subarray(0, count)).digest('hex')
    if (sha1 === torrent._hashes[index]) offer(torrent, { from: index, to: index })
  }
  torrent.select(from, to, 1)
}

/** Pieces that came another way are ours to give. */
function offer(torrent: Torrent, { from, to }: { from: number; to: number }) {
  for (let index = from; index <= to; index += 1) {
    if (torrent.bitfield.get(index)) continue
    torrent._markVerified(index)
    for (const wire of torrent.wires) wire.have(index)
  }
}

const nameOf = ({ type, remoteAddress, remotePort }: Wire) =>
  type === 'webSeed' ? registryName : `${remoteAddress}:${remotePort}`

/** Who sent what of each piece, and who sent what was not the piece. */
function watchSenders(torrent: Torrent, onBanned: (peer: string) => void) {
  const ofPiece = new Map<number, Set<string>>()
  let bytesFromPeers = 0
  const banned = new Set<string>()

  torrent.on('wire', (wire: Wire) => {
    const name = nameOf(wire)
    if (banned.has(hostOf(name))) return wire.destroy()
    wire.on('piece', (index: number, _offset: number, bytes: Uint8Array) => {
      const senders = ofPiece.get(index) ?? new Set()
      ofPiece.set(index, senders.add(name))
      if (name !== registryName) bytesFromPeers += bytes.length
    })
  })
  torrent.on('warning', (warning: Error) => {
    const index = Number(/^Piece (\d+) failed verification$/.exec(warning.message)?.[1])
    const senders = [...(ofPiece.get(index) ?? [])]
    ofPiece.delete(index)
    const [only] = senders
    // Of several nobody knows who it was: the piece comes again, from one at a time.
    if (only === undefined || senders.length > 1 || only === registryName) return
    banned.add(hostOf(only))
    for (const wire of torrent.wires) if (nameOf(wire) === only) wire.destroy()
    onBanned(only)
  })

  return {
    of: (index: number) => [...(ofPiece.get(index) ?? [])],
    bytesFromPeers: () => bytesFromPeers,
  }
}

/** A peer comes back from another port. */
const hostOf = (name: string) => name.replace(/:\d+$/, '')

/** So long peers may be silent before the registry is asked for what they have as well. */
const patienceWithPeersMs = 3_000

type RegistryAmongPeers = { network: Network; fileSizeBytes: number; bytesFromPeers(): number }

/** The registry is asked for what no peer has, and for the rest where peers bring nothing. */
function registryAmongPeers(
  torrent: Torrent,
  { network, fileSizeBytes, bytesFromPeers }: RegistryAmongPeers,
) {
  let wire: RegistryWire | undefined
  let seenBytes = 0
  let movedAt = performance.now()

  function look() {
    const bytes = bytesFromPeers()
    if (bytes !== seenBytes) movedAt = performance.now()
    seenBytes = bytes
    const areSilent = performance.now() - movedAt > patienceWithPeersMs
    const peers = torrent.wires.filter(({ type }) => type !== 'webSeed')
    wire?.offerOnly((index) => areSilent || !peers.some((peer) => peer.peerPieces.get(index)))
  }

  return {
    look,
    use(urls: string[]) {
      if (urls.length === 0) {
        wire?.destroy()
        wire = undefined
      } else if (!wire || wire.destroyed) {
        const { pieces, pieceLength } = torrent
        wire = new RegistryWire(urls, {
          pieces: pieces.length,
          pieceLength,
          fileSizeBytes,
          network,
        })
        torrent.addWebSeed(wire)
      }
    },
  }
}
