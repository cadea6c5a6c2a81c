type Kept = { html: string; until: number }

/** Rendered cards in memory, up to so many bytes. The one that was asked for longest ago goes first. */
export function keptCards(mostBytes: number) {
  const kept = new Map<string, Kept>()
  let bytes = 0

  function forget(key: string) {
    const found = kept.get(key)
    if (found) bytes -= sizeOf(found)
    kept.delete(key)
  }

  return {
    find(key: string): string | undefined {
      const found = kept.get(key)
      if (!found) return undefined
      forget(key)
      if (found.until < Date.now()) return undefined
      add(key, found)
      return found.html
    },
    keep(key: string, html: string, forMs: number) {
      forget(key)
      add(key, { html, until: Date.now() + forMs })
      for (const oldest of kept.keys()) {
        if (bytes <= mostBytes) break
        forget(oldest)
      }
    },
  }

  function add(key: string, card: Kept) {
    kept.set(key, card)
    bytes += sizeOf(card)
  }
}

/** Two bytes for a character, and what an entry of the map costs. */
const sizeOf = ({ html }: Kept) => 2 * html.length + 500
