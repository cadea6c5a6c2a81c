/** A timer that measures how long the other side of a connection has been silent. */
export type SilenceTimer = {
  /** Starts the time again. Call this whenever something arrives. */
  refresh(): void
  stop(): void
}

/**
 * Calls `onSilence` if `refresh` is not called for `ms` milliseconds. If this thread was busy in the meantime, what has
 * arrived is read first, so that the other side is not blamed for it. Only for Node, since browsers have no
 * `setImmediate`.
 */
export function silenceTimer(ms: number, onSilence: () => void): SilenceTimer {
  let reading: NodeJS.Immediate | undefined
  const timer = setTimeout(() => {
    reading = setImmediate(onSilence) // runs after the event loop has read from all sockets
  }, ms)
  return {
    refresh() {
      clearImmediate(reading)
      timer.refresh()
    },
    stop() {
      clearImmediate(reading)
      clearTimeout(timer)
    },
  }
}
