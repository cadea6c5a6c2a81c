import { getNetwork, plainAddress } from '@shoal/core/addresses'
import { keyedSlots } from '@shoal/core/limits'

export type SlotLimits = { maxConnections: number; maxPerNetwork: number }

/** Limits concurrent connections, in total and per network (an IPv4 address or an IPv6 /64). */
export function connectionSlots({ maxConnections, maxPerNetwork }: SlotLimits) {
  const slots = keyedSlots({ max: maxConnections, maxPerKey: maxPerNetwork })

  return {
    /** Takes a slot, and returns a function that releases the slot. Returns undefined if no slot is free. */
    take(address: string | undefined): (() => void) | undefined {
      const plain = plainAddress(address)
      return plain === undefined // already disconnected
        ? undefined
        : slots.take(getNetwork(plain))
    },
  }
}
