/** Counts the requests for each model, limits its queue, and unloads it when it has been idle for a while. */

import { type Clock, systemClock, untilAborted } from '@shoal/core/async'
import { hasCode } from '@shoal/core/errors'
import type { Log } from '@shoal/log'
import { Fault } from '../errors.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Entry, Lifecycle } from './lifecycle.ts'
import type { LocalModel } from './local-models.ts'

export type UseSettings = {
  /** The number of requests that may wait for a slot of one model. */
  queueLength: number
  log: Pick<Log, 'error'>
  clock?: Clock
}

export type UseOptions = {
  /** How long the model stays loaded when idle. Negative means forever; undefined means unchanged. */
  keepAliveMs?: number | undefined
  /** Context length in tokens; undefined for the daemon's setting. */
  contextLength?: number | undefined
  /** Aborts when the client has left. The request then stops waiting for the model. */
  signal?: AbortSignal | undefined
}

/** The use of a model for one request. Must be disposed when the request ends. */
export type Use = Disposable & { runtime: Runtime; model: LocalModel }

/** The maximum delay of a timer, about 25 days. */
const maxTimerMs = 2 ** 31 - 1

export const notNow = (message: string) => new Fault('model_not_loaded', message)

const never = new AbortController().signal

/** Returns a function that reserves a model for one request. */
export function modelUses(
  { unload, noteIdle }: Pick<Lifecycle, 'unload' | 'noteIdle'>,
  { queueLength, log, clock = systemClock }: UseSettings,
) {
  let uses = 0

  function begin(entry: Entry) {
    uses += 1
    entry.usedAt = uses
    entry.requests += 1
    entry.idleSince = undefined
    entry.expiresAt = undefined
    entry.stopTimer()
  }

  function end(entry: Entry) {
    entry.requests -= 1
    if (entry.requests > 0) return
    noteIdle(entry)
    const { keepAliveMs } = entry
    entry.idleSince = new Date()
    if (keepAliveMs < 0) return
    entry.expiresAt = new Date(Date.now() + keepAliveMs)
    const wait = (ms: number) => {
      const onward = () => (ms > maxTimerMs ? wait(ms - maxTimerMs) : unloadIdle(entry))
      entry.stopTimer = clock.after(Math.min(ms, maxTimerMs), onward)
    }
    wait(keepAliveMs)
  }

  const unloadIdle = (entry: Entry) =>
    void unload(entry).catch((error) => log.error({ err: error }, 'a model could not be unloaded'))

  /**
   * Waits until the model is loaded, or until `signal` aborts. `keepAliveMs` replaces the time for which the model stays
   * loaded. Rejects with `queue_full` if too many requests are already waiting.
   */
  return async (
    entry: Entry,
    { keepAliveMs, signal = never }: Pick<UseOptions, 'keepAliveMs' | 'signal'>,
  ): Promise<Use> => {
    const { model } = entry
    if (entry.requests >= entry.slots + queueLength) {
      const message = `the queue of model ${model.id} is full (${queueLength} requests): try again later`
      throw new Fault('queue_full', message, { retryAfterSeconds: 2 })
    }
    if (keepAliveMs !== undefined) entry.keepAliveMs = keepAliveMs
    begin(entry)
    try {
      const runtime = await untilAborted(signal, entry.runtime)
      return { runtime, model: entry.model, [Symbol.dispose]: () => end(entry) }
    } catch (error) {
      end(entry)
      if (hasCode(error, 'model_lost')) throw notNow(`model ${entry.model.id}: ${error.message}`)
      throw error
    }
  }
}
