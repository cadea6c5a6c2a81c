import type { Reach } from '@shoal/core/addresses'

/**
 * The peers of each torrent: the tracker's state. All inputs and outputs are plain data, so that several nodes can
 * share one implementation.
 */
export type Swarms = {
  /** Keeps a peer until it times out, and picks random peers for it: never itself, and no seeder for a seeder. */
  announce(swarm: string, peer: Peer, wanted: Wanted): Promise<Announced>
  /** Removes a peer at once. Announces by another peer under its name have no effect. */
  leave(swarm: string, peer: Peer): Promise<SwarmCounts>
  counts(swarm: string): Promise<SwarmCounts>
  findBrowser(swarm: string, peerId: string): Promise<BrowserPeer | undefined>
  /** The number of seeders. Synchronous and from memory: it is called for each row of a list. */
  seeders(swarm: string): number
  /** Changes whenever `seeders` may have changed, for caches. */
  seedersVersion(): number
  totals(): Promise<{ swarms: number; peers: number }>
  close(): Promise<void>
}

export type Peer = TcpPeer | BrowserPeer

export type TcpPeer = PeerBase & { kind: 'tcp'; port: number }

/** Uses WebRTC, and receives offers and answers through a channel. */
export type BrowserPeer = PeerBase & { kind: 'browser'; channel: string }

type PeerBase = {
  /** 20 bytes chosen by the peer, as 40 hexadecimal digits. */
  peerId: string
  /** The address of its connection; IPv4 is never mapped to IPv6. */
  address: string
  isSeeder: boolean
}

export type Wanted = {
  /** Maximum number of peers. */
  count: number
  /** Only peers at these kinds of addresses are useful to the caller. */
  reaches: readonly Reach[]
}

export type SwarmCounts = {
  /** Peers that have the complete file. */
  complete: number
  incomplete: number
  /** Downloads completed since the first of the present peers joined. */
  completed: number
}

export type Announced = {
  /** False if there is no room for another peer, or if a browser uses the name of another. */
  isKept: boolean
  peers: Peer[]
  counts: SwarmCounts
}

/**
 * The swarms of a file. Each private file has its own swarm, even if another private model has the same bytes under the
 * same name and hence the same info hash: neither group of peers learns about the other.
 */
export const publicSwarm = (infoHash: string) => infoHash
export const privateSwarm = (infoHash: string, fileId: string) => `${infoHash} ${fileId}`
