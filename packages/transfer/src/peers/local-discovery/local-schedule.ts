/**
 * Decides when which torrents are announced in the local network (BEP 14). Times in ms since 1970: time asleep counts.
 */

const minuteMs = 60_000
/** BEP 14: while the torrent is active. */
const againAfterMs = 5 * minuteMs

type Entry = { announcedAt: number; nextAt: number }

/**
 * A new torrent is announced at once, again after a minute, since such packets are not acknowledged, and then every
 * five minutes. Repetitions are sent together, at most once a minute.
 */
export function localSchedule() {
  const entries = new Map<string, Entry>()
  let repeatedAt = Number.NEGATIVE_INFINITY
  let takenAt = Number.NEGATIVE_INFINITY

  /** The clock was set back: earlier times mean nothing. */
  function startOver(now: number) {
    repeatedAt = Number.NEGATIVE_INFINITY
    for (const entry of entries.values()) entry.nextAt = now
  }

  return {
    /** Those of `infoHashes`, which are all present torrents, that are due now. */
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

    /** There are new networks: everything is announced again as soon as allowed. */
    hurry() {
      for (const entry of entries.values()) entry.nextAt = entry.announcedAt + minuteMs
    },
  }
}
