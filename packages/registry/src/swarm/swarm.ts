import type { Reach } from '@shoal/core/addresses'

/**
 * The tracker's state: the peers of each torrent. All inputs and outputs are plain data, so that several nodes can
 * share this state.
 */
export type Swarms = {
  /**
   * Stores a peer until it times out, and picks other peers for it at random. A seeder is not given other seeders. The
   * peers are returned in the order of their last announces, the latest last.
   */
  announce(swarm: string, peer: Peer, wanted: Wanted): Promise<Announced>
  /**
   * Removes a peer immediately. Has no effect if `peer` is not the stored peer: a TCP peer must have the same peer ID,
   * and a browser must have the same channel.
   */
  leave(swarm: string, peer: Peer): Promise<SwarmCounts>
  counts(swarm: string): Promise<SwarmCounts>
  findBrowser(swarm: string, peerId: string): Promise<BrowserPeer | undefined>
  /** Returns the number of seeders in each of these swarms. The numbers may be up to 2 seconds old. */
  countSeeders(swarms: string[]): Promise<Map<string, number>>
  /** Changes whenever `countSeeders` may return different numbers, so that caches can be invalidated. */
  seedersVersion(): number | string
  totals(): Promise<{ swarms: number; peers: number }>
  close(): Promise<void>
}

export type Peer = TcpPeer | BrowserPeer

export type TcpPeer = PeerBase & { kind: 'tcp'; port: number }

/** A peer that uses WebRTC, and receives offers and answers through a channel. */
export type BrowserPeer = PeerBase & { kind: 'browser'; channel: string }

type PeerBase = {
  /** 20 bytes chosen by the peer, as 40 hexadecimal digits. */
  peerId: string
  /** The address of the peer's connection. An IPv4 address is never in IPv6-mapped form. */
  address: string
  isSeeder: boolean
}

export type Wanted = {
  /** Maximum number of peers. */
  count: number
  /** The kinds of addresses that the caller can reach. Only peers with such addresses are returned. */
  reaches: readonly Reach[]
}

export type SwarmCounts = {
  /** Peers that have the complete file. */
  complete: number
  incomplete: number
  /** Number of downloads completed since the swarm was last empty. */
  completed: number
}

/**
 * Why a peer is not stored: the limit that has been reached (of all swarms together, of the swarm, or of the peer's
 * network), or `peer_id` if a browser uses another browser's peer ID.
 */
export type Refusal = 'total' | 'swarm' | 'network' | 'peer_id'

export type SwarmLimits = {
  /** Maximum number of peers in all swarms together. */
  peers: number
  peersPerSwarm: number
  /** Maximum number of peers in one network, in all swarms together. */
  peersPerNetwork: number
}

export type Announced = {
  /** Undefined if the peer is stored. */
  refusal: Refusal | undefined
  peers: Peer[]
  counts: SwarmCounts
}

/**
 * The names of a file's swarms. Each private file has its own swarm, so that its peers do not learn of another private
 * file's peers. Separate swarms are needed because private files with the same bytes and the same name have the same
 * info hash.
 */
export const publicSwarm = (infoHash: string) => infoHash
export const privateSwarm = (infoHash: string, fileId: string) => `${infoHash} ${fileId}`
