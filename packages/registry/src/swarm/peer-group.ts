import type { Peer } from './swarm.ts'

/** A peer, the time of its last announce, and its position in its group. */
export type Placed = { peer: Peer; seenAt: number; group: PeerGroup; place: number }

/** Peers in no particular order. Adding, removing and randomly drawing a peer each take constant time. */
export type PeerGroup = Placed[]

export function addTo(group: PeerGroup, placed: Placed) {
  placed.group = group
  placed.place = group.push(placed) - 1
}

export function takeOut(placed: Placed) {
  const { group, place } = placed
  const last = group.pop()
  if (last && last !== placed) putAt(group, place, last)
}

/**
 * Draws random peers from all of these groups together, each peer with equal probability and at most once (Fisher–Yates
 * shuffle).
 */
export function* drawFrom(groups: PeerGroup[]): Generator<Placed> {
  const drawn = groups.map(() => 0)
  let left = groups.reduce((sum, group) => sum + group.length, 0)
  while (left > 0) {
    let ticket = Math.floor(Math.random() * left)
    left -= 1
    for (const [index, group] of groups.entries()) {
      const first = drawn[index] ?? 0
      const found = group[first + ticket]
      if (!found) {
        ticket -= group.length - first
        continue
      }
      swap(group, first, first + ticket)
      drawn[index] = first + 1
      yield found
      break
    }
  }
}

function swap(group: PeerGroup, one: number, other: number) {
  const [a, b] = [group[one], group[other]]
  if (!a || !b) return
  putAt(group, one, b)
  putAt(group, other, a)
}

function putAt(group: PeerGroup, place: number, placed: Placed) {
  group[place] = placed
  placed.place = place
}
