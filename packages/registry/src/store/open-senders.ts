type Sender = { stop: AbortController; ended: Promise<unknown> }

/** The requests that are sending to each upload. An open file keeps its blocks on the disk, even when it is deleted. */
export function openSenders() {
  const sendersByKey = new Map<string, Set<Sender>>()

  return {
    async run<T>(key: string, send: (signal: AbortSignal) => Promise<T>): Promise<T> {
      const stop = new AbortController()
      const sending = send(stop.signal)
      const sender = { stop, ended: sending.catch(() => undefined) } // its own caller is told
      const senders = sendersByKey.get(key) ?? new Set()
      sendersByKey.set(key, senders.add(sender))
      try {
        return await sending
      } finally {
        senders.delete(sender)
        if (senders.size === 0 && sendersByKey.get(key) === senders) sendersByKey.delete(key)
      }
    },

    /** Ends everybody who sends to an upload, and resolves when they have closed its files. */
    async stop(key: string, reason: Error): Promise<void> {
      const senders = [...(sendersByKey.get(key) ?? [])]
      for (const { stop } of senders) stop.abort(reason)
      await Promise.all(senders.map(({ ended }) => ended))
    },
  }
}
