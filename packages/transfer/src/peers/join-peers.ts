/** Decides when a pull joins the swarm, and when the swarm delivers chunks instead of the registry. */

import { once } from 'node:events'
import { pieceLengthFor } from '@shoal/model-file'
import type { NetworkSettings } from '@shoal/network'
import type { Download, ModelFile, RegistryClient } from '@shoal/protocol/client'
import { type Board, receivedBytes } from '../chunks/board.ts'
import type { ChunkChecker } from '../chunks/chunk-checker.ts'
import type { ChunkLedger } from '../chunks/chunk-ledger.ts'
import type { Chunk, Manifest } from '../chunks/manifest.ts'
import { type PiecesHere, piecesHere } from '../chunks/pieces-here.ts'
import type { Tuning } from '../chunks/tuning.ts'
import { forgetContact } from '../disk/kept-contact.ts'
import { followLimit, type Limit, readLimit } from '../limit.ts'
import { getTorrent } from './get-torrent.ts'
import { pace } from './pace.ts'
import { type PeerDiscovery, startPeerDiscovery } from './peer-discovery.ts'
import { peerHostFor } from './peer-host.ts'
import { type Swarm, startSwarm } from './swarm.ts'
import { type SwarmSource, swarmSource } from './swarm-source.ts'
import { trackerFetch } from './tracker-fetch.ts'

/** The number of pieces that must be received to measure the rate of a swarm. */
const samplePieces = 4

export type PeerSettings = {
  /** `off`: only the registry learns of this pull. `only`: no bytes are requested from the registry. */
  peers: 'auto' | 'off' | 'only'
  /** Maximum bytes per second sent to peers. */
  uploadLimit: Limit | undefined
  /** Whether to look for peers on the local network. */
  isLocalDiscoveryOn: boolean
}

type Setup = PeerSettings & {
  tuning: Pick<Tuning, 'joinAfterMs' | 'fastBytesPerSecond' | 'turnMs' | 'stallMs'>
  client: RegistryClient
  modelName: string
  file: ModelFile
  download: Download
  manifest: Manifest
  board: Board
  ledger: ChunkLedger
  path: string
  /** Where the pull's port and peer ID are saved while it uses peers. */
  contactPath: string
  /** Hashes chunks on disk. */
  checker: ChunkChecker
  /** Bytes per second; undefined for no limit. */
  downloadLimit: Limit | undefined
  /** URLs of the whole file. */
  registryUrls: string[]
  network: NetworkSettings
  signal: AbortSignal
  onBanned(peer: string): void
  /** Called if the swarm fails. Peers are not used from then on. */
  onFailure(error: Error): void
}

/** The pull's interface to its peers. */
export interface Peers {
  /** The swarm as a source of chunks. It works only during its turns, and it has no turns if peers are off. */
  readonly source: SwarmSource
  /** The pieces that are on disk. Other sources also use this record. */
  readonly pieces: PiecesHere
  /**
   * Resolves when the registry may be used, or when the pull is over. The result is a signal that is aborted when the
   * registry must no longer be used.
   */
  registryTurn(): Promise<AbortSignal>
  /** Reports that a chunk is trusted and can be sent to peers. */
  onTrusted(chunk: Chunk): void
  /** Ends all waits for a turn. Called when there is nothing left to do. */
  finish(): void
  /**
   * Leaves the swarm. This takes at most half a second once the swarm's thread has loaded; afterwards, nothing is
   * written. Rejects if something failed, but only after the swarm has been left.
   */
  close(): Promise<void>
}

/**
 * Looks for peers after `joinAfterMs`, or immediately with `only`. Does nothing with `off`, or with `auto` if the file
 * is private. Reports failures by calling `setup.onFailure`.
 */
export function joinPeers(setup: Setup): Peers {
  const { manifest, board, peers, signal } = setup
  const pieceLength = pieceLengthFor(manifest.fileSizeBytes)
  let swarm: Swarm | undefined
  const onForget = (chunk: Chunk) => swarm?.forget(chunk)
  const pieces = piecesHere({ manifest, pieceLength, board, onForget })
  const onlyPeers = peers === 'only'
  let discovery: PeerDiscovery | undefined
  const over = new AbortController()
  const turns = pace(
    {
      registryBytes: () => receivedBytes(board),
      swarmBytes: () => source.broughtBytes(),
      peers: () => swarm?.peerCount() ?? 0,
      pullers: () => swarm?.pullerCount() ?? 0,
    },
    { ...setup.tuning, sampleBytes: samplePieces * pieceLength, onlyPeers },
  )
  /**
   * Resolves when the torrent has been loaded, or when the pull is over. Until then, nothing is requested from the
   * swarm. Otherwise, such a request could time out before the request for the torrent does, and the pull would report
   * the wrong cause.
   */
  const torrentHere = Promise.withResolvers<void>()
  const source = swarmSource({
    manifest,
    pieces,
    board,
    checker: setup.checker,
    stallMs: setup.tuning.stallMs,
    trackerError: () => discovery?.trackerError(),
    registryLabel: new URL(setup.download.direct_url).host,
    turn: () => torrentHere.promise.then(() => turns.turn('swarm')),
  })

  let hasFailed = false
  function fail(error: Error) {
    if (!hasFailed && !signal.aborted) setup.onFailure(error)
    hasFailed = true
  }

  async function join() {
    const { client, modelName, file } = setup
    if (manifest.chunks.length > 1 && manifest.chunkSize % pieceLength !== 0) {
      throw new Error('the chunks of the file do not consist of whole torrent pieces')
    }
    const ids = { modelId: modelName, fileId: file.id }
    const { torrent, isOpen } = await getTorrent(client, ids, signal)
    torrentHere.resolve()
    if (over.signal.aborted) return
    const discoveryOptions = {
      host: peerHostFor(setup.download.torrent_url),
      isLocalDiscoveryOn: setup.isLocalDiscoveryOn && isOpen,
    }
    if (!(await isAnybodyThere(discoveryOptions))) return
    swarm = startSwarm(
      {
        ...discoveryOptions,
        network: setup.network,
        path: setup.path,
        fileSizeBytes: manifest.fileSizeBytes,
        torrent,
        downloadLimit: readLimit(setup.downloadLimit),
        uploadLimit: readLimit(setup.uploadLimit),
      },
      pieceLength,
      {
        onPiece: source.onPiece,
        onBanned: setup.onBanned,
        onFailure: (reason) => fail(new Error(reason)),
      },
    )
    if (!onlyPeers) swarm.askRegistry(setup.registryUrls)
    for (const chunk of manifest.chunks) if (setup.ledger.isTrusted(chunk.index)) swarm.offer(chunk)
    source.joins(swarm)
    await swarm.untilLoaded()
    if (over.signal.aborted) return
    swarm.join((await discovery?.handOver()) ?? { port: 0, peerId: undefined, peers: [] })
  }

  /**
   * Resolves with true when a peer has been found, or with false when the pull is over. No BitTorrent client is started
   * before that.
   */
  async function isAnybodyThere(discoveryOptions: { host: string; isLocalDiscoveryOn: boolean }) {
    discovery = await startPeerDiscovery({
      ...discoveryOptions,
      contactPath: setup.contactPath,
      tracker: parseTracker(setup.download),
      infoHash: setup.download.torrent_info_hash,
      leftBytes: () => manifest.fileSizeBytes - receivedBytes(board),
      fetch: trackerFetch(setup.network),
    })
    if (over.signal.aborted) await discovery.close()
    else await Promise.race([discovery.found, once(over.signal, 'abort')])
    return !over.signal.aborted
  }

  // The members of a swarm learn of each other. The swarm of a private file is therefore joined only if the user asks
  // for it (`only`).
  const canJoin = onlyPeers || (peers === 'auto' && !isPrivate(setup.download))
  const joining = setTimeout(() => join().catch(fail), onlyPeers ? 0 : setup.tuning.joinAfterMs)
  if (!canJoin) clearTimeout(joining)

  const stopFollowing = [
    followLimit(setup.downloadLimit, (limit) => swarm?.limit('download', limit)),
    followLimit(
      setup.uploadLimit,
      (limit) => swarm?.limit('upload', limit),
      () => swarm !== undefined,
    ),
  ]

  function finish() {
    torrentHere.resolve()
    turns.close()
  }

  return {
    source,
    pieces,
    registryTurn: () => turns.turn('registry'),
    onTrusted: (chunk) => swarm?.offer(chunk),
    finish,
    async close() {
      clearTimeout(joining)
      for (const stop of stopFollowing) stop()
      over.abort()
      finish()
      await Promise.all([discovery?.close(), swarm?.close()])
      if (discovery) await forgetContact(setup.contactPath, discovery)
    },
  }
}

/** Whether the file is private. The URLs of a private file's tracker and bytes contain a token. */
export const isPrivate = (download: Download): boolean =>
  !/\/announce$/.test(parseTracker(download))

const parseTracker = ({ magnet_uri }: Download): string =>
  new URL(magnet_uri).searchParams.get('tr') ?? ''
