import { getNetwork, plainAddress } from '@shoal/core/addresses'

export type SlotLimits = { maxConnections: number; maxPerNetwork: number }

/** How many connections there may be, in all and from one household or host. */
export function connectionSlots({ maxConnections, maxPerNetwork }: SlotLimits) {
  const taken = new Map<string, number>()
  let all = 0

  return {
    /** A slot, to be given back by the function; undefined when all are taken. */
    take(address: string | undefined): (() => void) | undefined {
      const plain = plainAddress(address)
      if (plain === undefined) return undefined // it has gone already
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
