/** Uses webtorrent to exchange the pieces of one torrent with peers. Runs in a separate thread: `swarm-thread.ts`. */
import { closeSync, openSync } from 'node:fs'
import type { Notify } from '@shoal/core/rpc'
import { isErrno } from '@shoal/files'
import { pieceLengthFor } from '@shoal/model-file'
import { openNetwork, useForFetch } from '@shoal/network/requests'
import type Wire from 'bittorrent-protocol'
import type WebTorrent from 'webtorrent'
import type { Torrent } from 'webtorrent'
import { startLocalDiscovery } from './local-discovery/local-discovery.ts'
import { watchSenders } from './piece-senders.ts'
import { createPieceStoreClass } from './piece-store.ts'
import { listPeers, maxRegistryRequests, registryAmongPeers } from './registry-among-peers.ts'
import { settlePieces } from './settle-pieces.ts'
import type { Contact, Pieces, SwarmEvents, SwarmMethods, SwarmSetup } from './swarm-messages.ts'
import { destroyClient, torrentClient } from './torrent-client.ts'
import { forget, leave, offer, want } from './torrent-pieces.ts'
import { checkTorrent, getInternals } from './webtorrent-internals.ts'

const reportIntervalMs = 250
const maxConnections = 60

/** Joins the swarm. Resolves once the client is listening for peers. Reports events by calling `notify`. */
export async function joinSwarm(
  setup: SwarmSetup,
  contact: Contact,
  notify: Notify<SwarmEvents>,
): Promise<Omit<SwarmMethods, 'join'>> {
  const fd = openSync(setup.path, 'r+')
  const { host } = setup
  const network = openNetwork(setup.network, { connections: maxRegistryRequests })
  const endFetchUse = useForFetch(network) // webtorrent sends announces with the global `fetch`
  const { client, torrent } = await openTorrent(setup, contact, fd)
  const fail = (error: unknown) => notify('failed', String(error))
  client.on('error', fail)
  torrent.on('error', fail)
  finishBegunPieces(torrent)
  const senders = watchSenders(torrent, (peer) => notify('banned', peer))
  const registry = registryAmongPeers(torrent, {
    network,
    fileSizeBytes: setup.fileSizeBytes,
    peerId: client.peerId,
    bytesFromPeers: senders.bytesFromPeers,
  })
  torrent.on('verified', (index: number) => {
    notify('piece', { index, sent: senders.take(index) })
  })
  const settling = settlePieces(torrent, (from) => notify('settled', from))
  const reportTimer = setInterval(() => {
    registry.poll()
    settling.poll()
    notify('peers', { peers: listPeers(torrent).length, pullers: registry.listPullers().length })
  }, reportIntervalMs)
  for (const peer of contact.peers) torrent.addPeer(peer)
  const discovery = setup.isLocalDiscoveryOn ? discover(host, client, torrent) : undefined
  notify('ready', { port: client.torrentPort, pieceLength: torrent.pieceLength })

  function stop(pieces: Pieces) {
    settling.leave(pieces)
    leave(torrent, pieces)
  }

  return {
    have: (pieces) => offer(torrent, pieces),
    want(wanted) {
      want(torrent, { fd, senders, ...wanted })
      registry.want(wanted)
    },
    settle(pieces) {
      stop(pieces)
      settling.settle(pieces)
    },
    leave(pieces) {
      stop(pieces)
      registry.leave(pieces)
    },
    forget: (pieces) => forget(torrent, pieces),
    registry: (urls) => registry.use(urls),
    limit({ direction, bytesPerSecond = -1 }) {
      if (direction === 'download') client.throttleDownload(bytesPerSecond)
      else client.throttleUpload(bytesPerSecond)
    },

    async close() {
      clearInterval(reportTimer)
      discovery?.close()
      await destroyClient(client)
      endFetchUse()
      await network.destroy()
      closeSync(fd)
    },
  }
}

/** Opens the torrent. Listens on the port in `contact`, or on any free port if that one is now in use. */
async function openTorrent(setup: SwarmSetup, contact: Contact, fd: number) {
  const { host, downloadLimit, uploadLimit } = setup
  const { port, peerId } = contact
  const client = torrentClient({
    host,
    port,
    downloadLimit,
    uploadLimit,
    maxConns: maxConnections,
    ...(peerId !== undefined && { peerId: Buffer.from(peerId).toString('hex') }),
  })
  try {
    return { client, torrent: await add(client, setup, fd) }
  } catch (error) {
    if (!isErrno(error, 'EADDRINUSE') || port === 0) throw error
    return openTorrent(setup, { ...contact, port: 0 }, fd)
  }
}

async function add(client: WebTorrent, setup: SwarmSetup, fd: number): Promise<Torrent> {
  const { fileSizeBytes } = setup
  const pieceLength = pieceLengthFor(fileSizeBytes)
  const pieces = Math.ceil(fileSizeBytes / pieceLength)
  const settings = {
    store: createPieceStoreClass({ fd, pieceLength, fileSizeBytes }),
    storeCacheSlots: 0, // the operating system already caches the pieces
    strategy: 'rarest',
    deselect: true,
    bitfield: new Uint8Array(Math.ceil(pieces / 8)), // without a bitfield, webtorrent would hash the whole file
    maxWebConns: maxRegistryRequests,
  }
  const torrent = await new Promise<Torrent>((resolve, reject) => {
    client.once('error', reject)
    client.add(setup.torrent, settings, (added) => {
      client.off('error', reject)
      resolve(added)
    })
  })
  checkTorrent(torrent)
  if (torrent.length === fileSizeBytes && torrent.pieceLength === pieceLength) return torrent
  throw new Error('the torrent is for a different file')
}

/**
 * Makes the library finish the pieces that a peer has begun to send before it requests the rarest pieces. Otherwise, it
 * would begin many pieces at the same time. Unfinished pieces cannot be sent to other peers, and are lost when the
 * pull stops using peers.
 */
function finishBegunPieces(torrent: Torrent) {
  const begun = new Set<number>()
  torrent.on('wire', (wire: Wire) => wire.on('piece', (index: number) => begun.add(index)))
  torrent.on('verified', (index: number) => begun.delete(index))
  const { _rarityMap: rarity } = getInternals(torrent)
  const { getRarestPiece } = rarity
  rarity.getRarestPiece = (isWanted) =>
    begun.values().find(isWanted) ?? getRarestPiece.call(rarity, isWanted)
}

function discover(host: string, client: WebTorrent, torrent: Torrent) {
  const port = () => client.torrentPort
  const discovery = startLocalDiscovery({ host, port, torrents: () => [torrent] })
  discovery.announceSoon()
  return discovery
}
