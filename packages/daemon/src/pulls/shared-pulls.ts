import { untilAborted } from '@shoal/core/async'
import { type PullEvent, type PulledFile, type PullOptions, pullFile } from '@shoal/transfer'

type Listener = (event: PullEvent) => void
type Shared = { pulled: Promise<PulledFile>; listeners: Set<Listener>; abort: AbortController }
export type PullRequest = Omit<PullOptions, 'signal' | 'onEvent'>
type Guest = { signal: AbortSignal; onEvent: Listener }

/**
 * Pulls that several requests can share: a request for a file that is already being pulled joins that pull. A pull is
 * stopped once all its requests have been aborted.
 */
export function sharedPulls() {
  const running = new Map<string, Shared>()
  /** All pulls that have not ended, including those that were canceled and are still stopping. */
  const unfinished = new Set<Shared>()

  function begin(key: string, options: PullRequest): Shared {
    const abort = new AbortController()
    const listeners = new Set<Listener>()
    const onEvent = (event: PullEvent) => {
      for (const listener of listeners) listener(event)
    }
    const pulled = pullFile({ ...options, signal: abort.signal, onEvent }).finally(() => {
      forget(key, shared)
      unfinished.delete(shared)
    })
    const shared: Shared = { pulled, listeners, abort }
    running.set(key, shared)
    unfinished.add(shared)
    return shared
  }

  function forget(key: string, shared: Shared) {
    if (running.get(key) === shared) running.delete(key)
  }

  return {
    async pull(options: PullRequest, { signal, onEvent }: Guest): Promise<PulledFile> {
      signal.throwIfAborted()
      const key = `${options.file.sha256_hash} ${options.path}`
      const shared = running.get(key) ?? begin(key, options)
      const listener: Listener = (event) => onEvent(event)
      shared.listeners.add(listener)
      try {
        return await untilAborted(signal, shared.pulled)
      } finally {
        shared.listeners.delete(listener)
        if (shared.listeners.size === 0) {
          forget(key, shared)
          shared.abort.abort(signal.reason)
        }
      }
    },

    /** Stops all pulls. Partial downloads are kept. */
    async close(): Promise<void> {
      const all = [...unfinished]
      for (const { abort } of all) abort.abort(new Error('the daemon is shutting down'))
      await Promise.allSettled(all.map(({ pulled }) => pulled))
    },
  }
}
