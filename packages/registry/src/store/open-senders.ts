type Sender = { stop: AbortController; ended: Promise<unknown> }

/** The active requests that send to each upload. An open file keeps its disk blocks even after it is deleted. */
export function openSenders() {
  const sendersByKey = new Map<string, Set<Sender>>()

  return {
    async run<T>(key: string, send: (signal: AbortSignal) => Promise<T>): Promise<T> {
      const stop = new AbortController()
      const sending = send(stop.signal)
      const sender = { stop, ended: sending.catch(() => undefined) } // its caller gets the error
      const senders = sendersByKey.get(key) ?? new Set()
      sendersByKey.set(key, senders.add(sender))
      try {
        return await sending
      } finally {
        senders.delete(sender)
        if (senders.size === 0 && sendersByKey.get(key) === senders) sendersByKey.delete(key)
      }
    },

    /** Aborts all senders to an upload, and resolves once they have closed its files. */
    async stop(key: string, reason: Error): Promise<void> {
      const senders = [...(sendersByKey.get(key) ?? [])]
      for (const { stop } of senders) stop.abort(reason)
      await Promise.all(senders.map(({ ended }) => ended))
    },
  }
}
