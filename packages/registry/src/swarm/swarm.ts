import type { Reach } from '@shoal/core/addresses'

/**
 * Who takes part in which torrent: the tracker's memory. Everything that goes in and comes out is plain data, so that several
 * nodes can share one.
 */
export type Swarms = {
  /** Keeps a peer until it falls silent, and picks others of its kind for it at random: never itself, and no seeder for a seeder. */
  announce(swarm: string, peer: Peer, wanted: Wanted): Promise<Announced>
  /** Forgets a peer at once. What another peer says in its name changes nothing. */
  leave(swarm: string, peer: Peer): Promise<SwarmCounts>
  counts(swarm: string): Promise<SwarmCounts>
  findBrowser(swarm: string, peerId: string): Promise<BrowserPeer | undefined>
  /** How many have all of it. At once and from memory: it is asked for each row of a list. */
  seeders(swarm: string): number
  /** Changes whenever `seeders` may have, for those who keep answers. */
  seedersVersion(): number
  totals(): Promise<{ swarms: number; peers: number }>
  close(): Promise<void>
}

export type Peer = TcpPeer | BrowserPeer

export type TcpPeer = PeerBase & { kind: 'tcp'; port: number }

/** Speaks WebRTC, and is told of offers and answers through a channel. */
export type BrowserPeer = PeerBase & { kind: 'browser'; channel: string }

type PeerBase = {
  /** 20 bytes that it chose itself, as 40 hexadecimal digits. */
  peerId: string
  /** Where the connection came from; IPv4 is never wrapped in IPv6. */
  address: string
  isSeeder: boolean
}

export type Wanted = {
  /** Peers, at most. */
  count: number
  /** Peers at other addresses are of no use to who asks. */
  reaches: readonly Reach[]
}

export type SwarmCounts = {
  /** Peers that have all of it. */
  complete: number
  incomplete: number
  /** Peers that have become complete since the first of those that are there came. */
  completed: number
}

export type Announced = {
  /** False where there is no room for another peer, or where a browser uses the name of another. */
  isKept: boolean
  peers: Peer[]
  counts: SwarmCounts
}

/**
 * The swarms of a file. A private one is a swarm by itself, also where another private model has the same bytes under the
 * same name and hence the same info hash: those who have the one are not told who has the other.
 */
export const publicSwarm = (infoHash: string) => infoHash
export const privateSwarm = (infoHash: string, fileId: string) => `${infoHash} ${fileId}`
