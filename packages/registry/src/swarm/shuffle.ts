/** Shuffles the items in place (Fisher–Yates). */
export function shuffle<T>(items: T[]): T[] {
  for (let last = items.length - 1; last > 0; last -= 1) {
    const index = Math.floor(Math.random() * (last + 1))
    const drawn = items[index] as T
    items[index] = items[last] as T
    items[last] = drawn
  }
  return items
}
