import type { Clock } from '../async/clock.ts'

type Timer = { at: number; run: () => void }

/** A clock that stands still until `advance` is called. */
export type MovedClock = Clock & {
  /** Moves the time forward. Calls what is due until then, in order. */
  advance(ms: number): void
  /** The number of calls that are pending. */
  pending(): number
}

export function movedClock(): MovedClock {
  let now = 0
  const timers = new Set<Timer>()
  const findNext = () => [...timers].sort((a, b) => a.at - b.at)[0]
  return {
    now: () => now,
    after(ms, run) {
      const timer = { at: now + ms, run }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    pending: () => timers.size,
    advance(ms) {
      const end = now + ms
      for (let next = findNext(); next && next.at <= end; next = findNext()) {
        timers.delete(next)
        now = next.at
        next.run()
      }
      now = end
    },
  }
}
