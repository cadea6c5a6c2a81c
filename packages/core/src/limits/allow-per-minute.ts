/** Limits events per minute, so that a flood of packets costs almost no time or memory. */

const minuteMs = 60_000

type Limits = {
  /** Maximum for one address. */
  each: number
  /** Maximum for all addresses together. */
  all: number
}

/**
 * Creates a function that counts an event, such as a packet, for the address that caused it, and returns whether the
 * event is within the limits.
 */
export function allowPerMinute({ each, all }: Limits) {
  const counts = new Map<string, number>()
  let total = 0
  let until = 0

  return (address: string, now: number): boolean => {
    if (now >= until) {
      counts.clear()
      total = 0
      until = now + minuteMs
    }
    const count = counts.get(address) ?? 0
    if (total >= all || count >= each) return false
    counts.set(address, count + 1)
    total += 1
    return true
  }
}
