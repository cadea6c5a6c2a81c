import { classifyAddress } from '@shoal/core/addresses'
import { addTo, drawFrom, type PeerGroup, type Placed, takeOut } from './peer-group.ts'
import type { Peer, SwarmCounts, Wanted } from './swarm.ts'

/** The peers of one torrent. */
export class MemorySwarm {
  /** Least recently seen first. */
  readonly #entries = new Map<string, Placed>()
  /** Groups of peers with the same kind, role and reach, by group name. */
  readonly #groups = new Map<string, PeerGroup>()
  #seeders = 0
  #completed = 0

  get size(): number {
    return this.#entries.size
  }

  get counts(): SwarmCounts {
    const complete = this.#seeders
    return { complete, incomplete: this.size - complete, completed: this.#completed }
  }

  find(key: string): Peer | undefined {
    return this.#entries.get(key)?.peer
  }

  put(peer: Peer, seenAt: number) {
    const key = toPeerKey(peer)
    const known = this.#entries.get(key)
    if (known && !known.peer.isSeeder && peer.isSeeder) this.#completed += 1
    this.remove(key)
    const entry: Placed = { peer, seenAt, group: this.#getGroup(peer), place: 0 }
    addTo(entry.group, entry)
    this.#entries.set(key, entry)
    if (peer.isSeeder) this.#seeders += 1
  }

  remove(key: string): Peer | undefined {
    const entry = this.#entries.get(key)
    if (!entry) return undefined
    this.#entries.delete(key)
    takeOut(entry)
    if (entry.peer.isSeeder) this.#seeders -= 1
    return entry.peer
  }

  /** Removes and returns the peers that were last seen before `since`. */
  removeSilent(since: number): Peer[] {
    const silent: Peer[] = []
    for (const [key, { peer, seenAt }] of this.#entries) {
      if (seenAt >= since) break
      this.remove(key)
      silent.push(peer)
    }
    return silent
  }

  pick(asker: Peer, { count, reaches }: Wanted): Peer[] {
    const roles = asker.isSeeder ? [false] : [true, false]
    const names = reaches.flatMap((reach) =>
      roles.map((isSeeder) => toGroupName(asker.kind, isSeeder, reach)),
    )
    const picked: Placed[] = []
    if (count === 0) return []
    for (const one of drawFrom(names.map((name) => this.#groups.get(name) ?? []))) {
      if (isOneself(asker, one.peer)) continue
      if (picked.push(one) === count) break
    }
    return picked.sort((one, other) => one.seenAt - other.seenAt).map(({ peer }) => peer)
  }

  #getGroup({ kind, isSeeder, address }: Peer): PeerGroup {
    const name = toGroupName(kind, isSeeder, classifyAddress(address))
    const group = this.#groups.get(name) ?? []
    this.#groups.set(name, group)
    return group
  }
}

const toGroupName = (kind: Peer['kind'], isSeeder: boolean, reach: string) =>
  `${kind} ${isSeeder} ${reach}`

/**
 * Whether `peer` is the same client as `asker`, which is announcing. A client with two addresses announces from both
 * with the same peer ID. A client that was restarted has another peer ID, but the same address and port.
 */
export function isOneself(asker: Peer, peer: Peer): boolean {
  if (asker.peerId === peer.peerId) return true
  if (asker.kind !== 'tcp' || peer.kind !== 'tcp') return false
  return asker.port === peer.port && asker.address === peer.address
}

/**
 * Returns the key that identifies a peer. For a browser, this is the peer ID. For other peers, it is the address and
 * port, which no other client can claim.
 */
export function toPeerKey(peer: Peer): string {
  return peer.kind === 'tcp' ? `${peer.address} ${peer.port}` : peer.peerId
}
