import { getNetwork } from '@shoal/core/addresses'
import { MemorySwarm, toPeerKey } from './memory-swarm.ts'
import type { Peer, SwarmCounts, Swarms } from './swarm.ts'

/**
 * A peer takes about 500 bytes, so the maximum number of peers takes 100 MB. When a limit has been reached, a new peer
 * is not stored, but still receives the addresses of other peers.
 */
export const defaultLimits = {
  peers: 200_000,
  peersPerSwarm: 5_000,
  /** The limit is high, because all clients at a university may share one address. */
  peersPerNetwork: 2_000,
}

export type SwarmOptions = {
  /** A peer that has not announced for this long is removed. */
  silentAfterMs: number
  limits?: typeof defaultLimits
}

const maxSweepIntervalMs = 60_000
const nobody: SwarmCounts = { complete: 0, incomplete: 0, completed: 0 }

/** The swarms of one node, in its memory. After a restart, they are empty until clients announce again. */
export function memorySwarms({ silentAfterMs, limits = defaultLimits }: SwarmOptions): Swarms {
  const swarms = new Map<string, MemorySwarm>()
  const peersByNetwork = new Map<string, number>()
  let peers = 0
  let seedersVersion = 0

  const sweepTimer = setInterval(
    () => {
      for (const name of swarms.keys()) find(name)
    },
    Math.min(silentAfterMs / 2, maxSweepIntervalMs),
  )
  sweepTimer.unref()

  /** Removes the peers of a swarm that have timed out, and returns the swarm if any peers are left. */
  function find(name: string): MemorySwarm | undefined {
    const swarm = swarms.get(name)
    for (const peer of swarm?.removeSilent(performance.now() - silentAfterMs) ?? []) forget(peer)
    if (swarm?.size === 0) swarms.delete(name)
    return swarms.get(name)
  }

  function keep(name: string, peer: Peer): boolean {
    const swarm = find(name) ?? new MemorySwarm()
    const known = swarm.find(toPeerKey(peer))
    if (known ? isAnothersName(known, peer) : !hasRoom(swarm, peer)) return false
    swarm.put(peer, performance.now())
    swarms.set(name, swarm)
    if (!known) count(peer, 1)
    if ((known?.isSeeder ?? false) !== peer.isSeeder) seedersVersion += 1
    return true
  }

  function hasRoom(swarm: MemorySwarm, { address }: Peer): boolean {
    return (
      peers < limits.peers &&
      swarm.size < limits.peersPerSwarm &&
      (peersByNetwork.get(getNetwork(address)) ?? 0) < limits.peersPerNetwork
    )
  }

  function forget(peer: Peer) {
    count(peer, -1)
    if (peer.isSeeder) seedersVersion += 1
  }

  function count({ address }: Peer, difference: 1 | -1) {
    peers += difference
    const network = getNetwork(address)
    const networkPeers = (peersByNetwork.get(network) ?? 0) + difference
    if (networkPeers === 0) peersByNetwork.delete(network)
    else peersByNetwork.set(network, networkPeers)
  }

  return {
    async announce(name, peer, wanted) {
      const isKept = keep(name, peer)
      const swarm = find(name)
      if (!swarm) return { isKept, peers: [], counts: nobody }
      return { isKept, peers: swarm.pick(peer, wanted), counts: swarm.counts }
    },

    async leave(name, peer) {
      const swarm = find(name)
      const known = swarm?.find(toPeerKey(peer))
      if (swarm && known && isSame(known, peer)) {
        swarm.remove(toPeerKey(peer))
        forget(known)
      }
      return find(name)?.counts ?? nobody
    },

    async findBrowser(name, peerId) {
      const peer = find(name)?.find(peerId)
      return peer?.kind === 'browser' ? peer : undefined
    },

    counts: async (name) => find(name)?.counts ?? nobody,
    countSeeders: async (names) =>
      new Map(names.map((name) => [name, find(name)?.counts.complete ?? 0])),
    seedersVersion: () => seedersVersion,
    totals: async () => ({ swarms: swarms.size, peers }),

    async close() {
      clearInterval(sweepTimer)
    },
  }
}

/**
 * Whether a browser announces with another browser's peer ID. Peer IDs are public. To prevent impersonation, a peer ID
 * that is in use can move to another channel only if the address is the same.
 */
function isAnothersName(known: Peer, peer: Peer): boolean {
  if (known.kind !== 'browser' || peer.kind !== 'browser') return false
  return known.channel !== peer.channel && known.address !== peer.address
}

function isSame(known: Peer, peer: Peer): boolean {
  if (known.kind === 'browser') return peer.kind === 'browser' && known.channel === peer.channel
  return known.peerId === peer.peerId
}
