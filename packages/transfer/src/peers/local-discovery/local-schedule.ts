/**
 * Decides when each torrent is announced on the local network (BEP 14). Times are in milliseconds since 1970, so that
 * time during which the machine is asleep also counts.
 */

const minuteMs = 60_000
/** How often an active torrent is announced (BEP 14). */
const againAfterMs = 5 * minuteMs

type Entry = { announcedAt: number; nextAt: number }

/**
 * Creates a schedule without torrents. A new torrent is announced immediately, again after a minute (because the
 * packets are not acknowledged), and then every five minutes. Repeated announcements are sent together, at most once a
 * minute.
 */
export function localSchedule() {
  const entries = new Map<string, Entry>()
  let repeatedAt = Number.NEGATIVE_INFINITY
  let takenAt = Number.NEGATIVE_INFINITY

  /** Makes all torrents due again after the clock was set back, because the recorded times are then in the future. */
  function startOver(now: number) {
    repeatedAt = Number.NEGATIVE_INFINITY
    for (const entry of entries.values()) entry.nextAt = now
  }

  return {
    /** Returns the torrents that are due now. `infoHashes` must contain all current torrents. */
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

    /** Makes all torrents due again as soon as allowed, because there are new networks. */
    hurry() {
      for (const entry of entries.values()) entry.nextAt = entry.announcedAt + minuteMs
    },
  }
}
