import type { SourceShare } from '@shoal/transfer'
import { plural } from '../terminal/units.ts'

/** Returns how much of a pull came from peers, for display, or undefined if nothing did. */
export function computeShares(sources: readonly SourceShare[]) {
  const peers = sources.filter(({ isPeer }) => isPeer)
  const fromPeers = sum(peers)
  if (fromPeers === 0) return undefined
  return {
    peers: plural(new Set(peers.map(({ name }) => name)).size, 'peer'),
    percent: `${Math.round((fromPeers / sum(sources)) * 100)}%`,
    isRegistryToo: peers.length < sources.length,
  }
}

const sum = (shares: readonly SourceShare[]) => shares.reduce((all, { bytes }) => all + bytes, 0)
