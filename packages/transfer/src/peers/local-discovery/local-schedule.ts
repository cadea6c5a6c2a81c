/** When which torrents are announced in the local network, by BEP 14. Times in ms since 1970: time asleep counts. */

const minuteMs = 60_000
/** BEP 14: as long as somebody takes part. */
const againAfterMs = 5 * minuteMs

type Entry = { announcedAt: number; nextAt: number }

/**
 * A new torrent is announced at once, again after a minute, since nobody acknowledges such a packet, and then every five.
 * What is said again goes together, once a minute at most.
 */
export function localSchedule() {
  const entries = new Map<string, Entry>()
  let repeatedAt = Number.NEGATIVE_INFINITY
  let takenAt = Number.NEGATIVE_INFINITY

  /** The clock was set back: what it said before means nothing. */
  function startOver(now: number) {
    repeatedAt = Number.NEGATIVE_INFINITY
    for (const entry of entries.values()) entry.nextAt = now
  }

  return {
    /** Those of `infoHashes`, which are all that there are now, that are to be announced now. */
    take(infoHashes: string[], now: number): string[] {
      if (now < takenAt) startOver(now)
      takenAt = now
      const present = new Set(infoHashes)
      for (const infoHash of entries.keys()) if (!present.has(infoHash)) entries.delete(infoHash)
      const mayRepeat = now - repeatedAt >= minuteMs
      const due = [...present].filter((infoHash) => {
        const entry = entries.get(infoHash)
        return entry === undefined || (mayRepeat && entry.nextAt <= now)
      })
      for (const infoHash of due) {
        const isNew = !entries.has(infoHash)
        if (!isNew) repeatedAt = now
        const nextAt = now + (isNew ? minuteMs : againAfterMs)
        entries.set(infoHash, { announcedAt: now, nextAt })
      }
      return due
    },

    /** There are networks now that have heard nothing: everything is said again as soon as it may be. */
    hurry() {
      for (const entry of entries.values()) entry.nextAt = entry.announcedAt + minuteMs
    },
  }
}
