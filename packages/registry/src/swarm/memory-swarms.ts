import { getNetwork } from '@shoal/core/addresses'
import { MemorySwarm, toPeerKey } from './memory-swarm.ts'
import type { Peer, Refusal, SwarmCounts, SwarmLimits, Swarms } from './swarm.ts'

/** A peer takes about 500 bytes, so the maximum number of peers takes 100 MB. */
const maxPeers = 200_000

export type SwarmOptions = {
  /** A peer that has not announced for this long is removed. */
  silentAfterMs: number
  /**
   * When a limit has been reached, a new peer is not stored, but still receives the addresses of other peers. By
   * default, only the memory for all peers is limited.
   */
  limits?: Partial<SwarmLimits>
}

const maxSweepIntervalMs = 60_000
const nobody: SwarmCounts = { complete: 0, incomplete: 0, completed: 0 }

/** The swarms of one node, in its memory. After a restart, they are empty until clients announce again. */
export function memorySwarms({ silentAfterMs, limits = {} }: SwarmOptions): Swarms {
  const { peers: most = maxPeers, peersPerSwarm = most, peersPerNetwork = most } = limits
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

  /** Stores a peer, or returns why it is not stored. */
  function keep(name: string, peer: Peer): Refusal | undefined {
    const swarm = find(name) ?? new MemorySwarm()
    const known = swarm.find(toPeerKey(peer))
    const refusal = known ? refuseName(known, peer) : refuseNew(swarm, peer)
    if (refusal) return refusal
    swarm.put(peer, performance.now())
    swarms.set(name, swarm)
    if (!known) count(peer, 1)
    if ((known?.isSeeder ?? false) !== peer.isSeeder) seedersVersion += 1
    return undefined
  }

  function refuseNew(swarm: MemorySwarm, { address }: Peer): Refusal | undefined {
    if (peers >= most) return 'total'
    if (swarm.size >= peersPerSwarm) return 'swarm'
    const inNetwork = peersByNetwork.get(getNetwork(address)) ?? 0
    return inNetwork >= peersPerNetwork ? 'network' : undefined
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
      const refusal = keep(name, peer)
      const swarm = find(name)
      if (!swarm) return { refusal, peers: [], counts: nobody }
      return { refusal, peers: swarm.pick(peer, wanted), counts: swarm.counts }
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
 * Refuses a browser that announces with another browser's peer ID. Peer IDs are public. To prevent impersonation, a peer
 * ID that is in use can move to another channel only if the address is the same.
 */
function refuseName(known: Peer, peer: Peer): Refusal | undefined {
  if (known.kind !== 'browser' || peer.kind !== 'browser') return undefined
  const isAnothers = known.channel !== peer.channel && known.address !== peer.address
  return isAnothers ? 'peer_id' : undefined
}

function isSame(known: Peer, peer: Peer): boolean {
  if (known.kind === 'browser') return peer.kind === 'browser' && known.channel === peer.channel
  return known.peerId === peer.peerId
}
