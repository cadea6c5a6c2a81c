/** The swarm's part in a pull: when it is joined, and whose turn it is. */

import { pieceLengthFor } from '@shoal/model-file'
import type { Download } from '@shoal/protocol/client'
import { fetch } from 'undici'
import { type Board, receivedBytes } from '../pull/board.ts'
import type { ChunkLedger } from '../pull/chunk-ledger.ts'
import type { ChunkWorker } from '../pull/chunk-worker.ts'
import type { Chunk, Manifest } from '../pull/manifest.ts'
import type { Tuning } from '../pull/tuning.ts'
import { pace } from './pace.ts'
import { type Swarm, startSwarm } from './swarm.ts'
import { swarmSource } from './swarm-source.ts'

export type PeerSettings = {
  /** `off`: nobody but the registry learns of this pull. `only`: the registry is asked for no bytes. */
  peers: 'auto' | 'off' | 'only'
  /** Bytes per second that others may have of us. */
  uploadLimit: number | undefined
  /** Whether to look for peers on the local network. */
  isLocalDiscoveryOn: boolean
}

type Setup = PeerSettings & {
  tuning: Pick<Tuning, 'joinAfterMs' | 'fastBytesPerSecond'>
  download: Download
  manifest: Manifest
  board: Board
  ledger: ChunkLedger
  path: string
  worker: ChunkWorker
  downloadLimit: number | undefined
  /** URLs of the whole file. */
  registryUrls: string[]
  signal: AbortSignal
  onBanned(peer: string): void
}

export type Peers = ReturnType<typeof joinPeers>

export function joinPeers(setup: Setup) {
  const { manifest, board, peers } = setup
  const pieceLength = pieceLengthFor(manifest.fileSizeBytes)
  const onlyPeers = peers === 'only'
  let swarm: Swarm | undefined
  let failure: string | undefined
  const turns = pace(
    {
      registryBytes: () => receivedBytes(board),
      swarmBytes: () => source.broughtBytes(),
      peers: () => swarm?.peerCount() ?? 0,
    },
    { fastBytesPerSecond: setup.tuning.fastBytesPerSecond, onlyPeers },
  )
  const source = swarmSource({
    manifest,
    pieceLength,
    board,
    worker: setup.worker,
    registryLabel: new URL(setup.download.direct_url).host,
    turn: () => turns.turn('swarm'),
  })

  async function join() {
    const response = await fetch(setup.download.torrent_url, { signal: setup.signal })
    if (!response.ok) throw new Error(`the torrent answered ${response.status}`)
    const torrent = new Uint8Array(await response.arrayBuffer())
    if (setup.signal.aborted) return
    swarm = startSwarm(
      {
        path: setup.path,
        fileSizeBytes: manifest.fileSizeBytes,
        torrent,
        host: hostFor(setup.download.torrent_url),
        isLocalDiscoveryOn: setup.isLocalDiscoveryOn,
        downloadLimit: setup.downloadLimit,
        uploadLimit: setup.uploadLimit,
      },
      pieceLength,
      { onPiece: source.onPiece, onBanned: setup.onBanned },
    )
    if (!onlyPeers) swarm.askRegistry(setup.registryUrls)
    for (const chunk of manifest.chunks) if (setup.ledger.isTrusted(chunk.index)) swarm.offer(chunk)
    source.joins(swarm)
  }

  const canJoin = peers !== 'off' && !isPrivate(setup.download)
  const joining = setTimeout(
    () => {
      // Without peers a pull is what it was: the reason is kept for who asks.
      join().catch((error: unknown) => {
        failure = String(error)
      })
    },
    onlyPeers ? 0 : setup.tuning.joinAfterMs,
  )
  if (!canJoin) clearTimeout(joining)

  return {
    source,
    registryTurn: () => turns.turn('registry'),
    /** A chunk that came from the registry is there for others too. */
    onTrusted: (chunk: Chunk) => swarm?.offer(chunk),
    peerCount: () => swarm?.peerCount() ?? 0,
    failure: () => failure ?? swarm?.failure(),
    /** Whoever waits for its turn finds that there is nothing left to do. */
    finish: turns.close,
    async close() {
      clearTimeout(joining)
      turns.close()
      await swarm?.close()
    },
  }
}

/** Its tracker and its bytes are open to who has a token, which is in its URLs. */
export function isPrivate({ magnet_uri }: Download): boolean {
  const tracker = new URL(magnet_uri).searchParams.get('tr') ?? ''
  return !/\/announce$/.test(tracker)
}

/** Peers of a registry on this machine are on this machine. */
function hostFor(url: string): string {
  const { hostname } = new URL(url)
  const isLoopback = hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.')
  return isLoopback ? '127.0.0.1' : '0.0.0.0'
}
