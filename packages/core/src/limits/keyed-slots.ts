/** Limits what happens at the same time, such as open connections, in total and per key, such as an address. */
export function keyedSlots({ max, maxPerKey }: { max: number; maxPerKey: number }) {
  const taken = new Map<string, number>()
  let all = 0

  return {
    /** Takes a slot, and returns a function that releases the slot. Returns undefined if no slot is free. */
    take(key: string): (() => void) | undefined {
      const there = taken.get(key) ?? 0
      if (all >= max || there >= maxPerKey) return undefined
      all += 1
      taken.set(key, there + 1)
      return () => {
        all -= 1
        const left = (taken.get(key) ?? 0) - 1
        if (left > 0) taken.set(key, left)
        else taken.delete(key)
      }
    },
  }
}
