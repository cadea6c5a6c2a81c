import { type Clock, every, systemClock } from '@shoal/core/async'

/** How often to check whether a statement has been waiting for too long. */
const checkIntervalMs = 500
/** How long a statement may take before the server is probed, and how often it is probed again. */
const probeAfterMs = 1_000
/** How long a server may take to respond to a probe, which only its network and its scheduler delay. */
const probeTimeoutMs = 2_500

type Options = {
  /** Resolves when the server has responded to a request that takes it no time. Aborting the signal ends the request. */
  probe: (signal: AbortSignal) => Promise<void>
  /** The number of bytes that have arrived on all connections, so that data counts as a response too. */
  countBytes: () => number
  /** Called if the server has not responded. */
  onSilent: () => void
  clock?: Clock
}

export type ServerWatch = {
  /** Reports that a statement has been sent. Returns a function that reports its end. */
  follow(): () => void
  close(): void
}

/**
 * Notices within four seconds that a server no longer responds. If a network drops all packets, TCP reports nothing for
 * minutes, and a timeout for statements cannot be that short, because some take half a minute. Therefore, while a
 * statement takes long, the server is probed on another connection.
 */
export function watchServer(options: Options): ServerWatch {
  const { probe, countBytes, onSilent, clock = systemClock } = options
  /** When each statement was sent, in this order. */
  const pending = new Set<{ since: number }>()
  let respondedAt = Number.NEGATIVE_INFINITY
  let probing: AbortController | undefined

  async function check() {
    const [oldest] = pending
    if (probing || !oldest) return
    if (clock.now() - Math.max(oldest.since, respondedAt) < probeAfterMs) return
    const before = countBytes()
    probing = new AbortController()
    const { signal } = probing
    const late = Promise.withResolvers<false>()
    // If this process was busy, what has arrived in the meantime is read first.
    const cancel = clock.after(probeTimeoutMs, () => setImmediate(() => late.resolve(false)))
    const hasResponded = probe(signal).then(
      () => true,
      () => false, // for example because the connection was refused
    )
    const isAlive = (await Promise.race([hasResponded, late.promise])) || countBytes() !== before
    cancel()
    probing.abort()
    probing = undefined
    if (isAlive) respondedAt = clock.now()
    else if (pending.has(oldest)) onSilent()
  }

  const stop = every(checkIntervalMs, () => void check(), clock)
  return {
    follow() {
      const statement = { since: clock.now() }
      pending.add(statement)
      return () => void pending.delete(statement)
    },
    close() {
      stop()
      probing?.abort()
    },
  }
}
