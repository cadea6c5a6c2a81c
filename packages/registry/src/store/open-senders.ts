type Sender = { stop: AbortController; ended: Promise<unknown> }

/**
 * Tracks the active requests that send to each upload, so that they can be stopped when the upload is removed. A file
 * that is still open keeps its disk blocks even after it is deleted.
 */
export function openSenders() {
  const sendersByKey = new Map<string, Set<Sender>>()

  return {
    async run<T>(key: string, send: (signal: AbortSignal) => Promise<T>): Promise<T> {
      const stop = new AbortController()
      const sending = send(stop.signal)
      const sender = { stop, ended: sending.catch(() => undefined) } // the caller receives the error
      const senders = sendersByKey.get(key) ?? new Set()
      sendersByKey.set(key, senders.add(sender))
      try {
        return await sending
      } finally {
        senders.delete(sender)
        if (senders.size === 0 && sendersByKey.get(key) === senders) sendersByKey.delete(key)
      }
    },

    /** Aborts all senders to an upload, and resolves after they have closed the upload's files. */
    async stop(key: string, reason: Error): Promise<void> {
      const senders = [...(sendersByKey.get(key) ?? [])]
      for (const { stop } of senders) stop.abort(reason)
      await Promise.all(senders.map(({ ended }) => ended))
    },
  }
}
