import { isShoal, usesSeveralPerAddress } from '@shoal/model-file'
import { shuffle } from '../../swarm/shuffle.ts'
import type { Peer, SwarmCounts, Swarms, TcpPeer } from '../../swarm/swarm.ts'
import { announceAnswer } from './http-answers.ts'
import type { OwnAddress } from './own-address.ts'
import { addressesFor, usefulReaches } from './reach.ts'
import type { HttpAnnounce } from './read-http-announce.ts'
import { notTracked, type TrackedTorrent, type TrackedTorrents } from './tracked-torrents.ts'
import type { TrackerMetrics } from './tracker-metrics.ts'

/** The sender of an announce. */
export type Announcer = {
  address: string
  /** The local address of the client's connection; undefined behind a proxy. */
  reachedAt: string | undefined
  /** The token in the URL's path; undefined if there is none. */
  token: string | undefined
}

/**
 * A peer that this registry runs and includes in responses about public files. If `address` is missing, each client
 * receives the address at which it can reach the registry.
 */
export type ExtraPeer = { address?: string; port: number }

export type TrackerDependencies = {
  swarms: Swarms
  torrents: TrackedTorrents
  own: OwnAddress
  extraPeer: () => ExtraPeer | undefined
  intervalSeconds: number
  metrics: Pick<TrackerMetrics, 'refused'>
}

/** How many more peers are drawn if only the latest of each address is returned. */
const spareFactor = 2

/** Serves `/announce` and `/scrape`. Throws if a request is refused. */
export interface Tracker {
  /**
   * Records the announcing peer, and returns the bencoded response with other peers. If the event is `stopped`, removes
   * the peer instead, and returns no other peers.
   * @throws not-found for a torrent that is not tracked
   */
  announce(request: HttpAnnounce, from: Announcer): Promise<Buffer>
  /**
   * Counts the peers of each info hash (hexadecimal). Leaves out torrents that are not tracked.
   * @throws not-found if none of the torrents is tracked
   */
  scrape(infoHashes: string[], token: string | undefined): Promise<Map<string, SwarmCounts>>
}

export function tracker(dependencies: TrackerDependencies): Tracker {
  const { swarms, torrents, own, extraPeer, intervalSeconds, metrics } = dependencies

  async function announce(request: HttpAnnounce, from: Announcer): Promise<Buffer> {
    const torrent = await torrents.get(request.infoHash, from.token)
    const { address } = from
    const { peerId, port, isSeeder } = request
    const peer: TcpPeer = { kind: 'tcp', peerId, address, port, isSeeder }
    if (request.event === 'stopped') {
      const counts = await swarms.leave(torrent.swarm, peer)
      return announceAnswer({ counts, peers: [], intervalSeconds }, request)
    }
    const ownAddress = await own.for(address, from.reachedAt)
    const usesSeveral = usesSeveralPerAddress(peerId)
    const { counts, peers, refusal } = await swarms.announce(torrent.swarm, peer, {
      count: usesSeveral ? request.count : request.count * spareFactor,
      reaches: usefulReaches(address, ownAddress),
    })
    if (refusal) metrics.refused.inc({ limit: refusal })
    const reachable = listTcpPeers(peers, address, ownAddress)
    const found = [
      // The registry's own peer comes first: a client that stores only one peer per address then stores this peer,
      // which is always available.
      ...(needsMetadata(request) ? getExtraPeers(torrent, ownAddress) : []),
      ...(usesSeveral ? reachable : shuffle(latestPerAddress(reachable)).slice(0, request.count)),
    ]
    return announceAnswer({ counts, peers: found, intervalSeconds }, request)
  }

  /** Returns no peer for a private file, because only clients that have its torrent may get its metadata. */
  function getExtraPeers({ isPrivate }: TrackedTorrent, ownAddress: string | undefined) {
    const extra = isPrivate ? undefined : extraPeer()
    const address = extra?.address ?? ownAddress
    return extra && address ? [{ address, port: extra.port }] : []
  }

  return {
    announce,

    async scrape(
      infoHashes: string[],
      token: string | undefined,
    ): Promise<Map<string, SwarmCounts>> {
      const files = new Map<string, SwarmCounts>()
      for (const infoHash of infoHashes) {
        const torrent = await torrents.find(infoHash, token)
        if (torrent) files.set(infoHash, await swarms.counts(torrent.swarm))
      }
      if (files.size === 0) throw notTracked()
      return files
    },
  }
}

/** Whether a client may need the metadata of the torrent. shoal's own clients always have it. */
const needsMetadata = ({ count, peerId }: HttpAnnounce) => count > 0 && !isShoal(peerId)

/** Returns the peers with the addresses at which a client at `from` can reach them. */
function listTcpPeers(peers: Peer[], from: string, own: string | undefined): TcpPeer[] {
  const addressFor = addressesFor(from, own)
  return peers.flatMap((peer) =>
    peer.kind === 'tcp' ? { ...peer, address: addressFor(peer.address) } : [],
  )
}

/**
 * Returns one peer of each address: the seeder that announced last, or the other peer that announced last if there is no
 * seeder. `peers` must be in the order of their announces. A client that was killed and started again on another port
 * stays in the swarm with its former port until it times out, and could otherwise be the only peer of its address that
 * the receiver stores.
 */
function latestPerAddress(peers: readonly TcpPeer[]): TcpPeer[] {
  const latest = new Map<string, TcpPeer>()
  for (const peer of peers) {
    const known = latest.get(peer.address)
    if (!known || peer.isSeeder || !known.isSeeder) latest.set(peer.address, peer)
  }
  return [...latest.values()]
}
