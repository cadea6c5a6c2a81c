import { getNetwork, plainAddress } from '@shoal/core/addresses'

export type SlotLimits = { maxConnections: number; maxPerNetwork: number }

/** Limits concurrent connections, in total and per network (an IPv4 address or an IPv6 /64). */
export function connectionSlots({ maxConnections, maxPerNetwork }: SlotLimits) {
  const taken = new Map<string, number>()
  let all = 0

  return {
    /** Takes a slot, and returns a function that releases the slot. Returns undefined if no slot is free. */
    take(address: string | undefined): (() => void) | undefined {
      const plain = plainAddress(address)
      if (plain === undefined) return undefined // already disconnected
      const network = getNetwork(plain)
      const there = taken.get(network) ?? 0
      if (all >= maxConnections || there >= maxPerNetwork) return undefined
      all += 1
      taken.set(network, there + 1)
      return () => {
        all -= 1
        const left = (taken.get(network) ?? 0) - 1
        if (left > 0) taken.set(network, left)
        else taken.delete(network)
      }
    },
  }
}
