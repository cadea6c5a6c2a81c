/**
 * Handles the exit of a model's process: later requests go to a new process, except for requests that keep crashing the
 * model.
 */
import { createHash } from 'node:crypto'
import { hasCode } from '@shoal/core/errors'
import { LRUCache } from 'lru-cache'
import { Fault } from '../errors.ts'
import {
  type Finish,
  type Generation,
  isEmpty,
  type Piece,
  type Runtime,
} from '../runtime/runtime.ts'

/** After this many crashes, requests with the same prompt and schema are refused until `refusalMs` have passed. */
const maxCrashes = 2
const refusalMs = 60_000
const maxRemembered = 1_000

export type CrashLog = ReturnType<typeof openCrashLog>

/** Records the requests during which a model's process crashed before any output was generated. */
export function openCrashLog() {
  /**
   * For each request, the IDs of the processes that it has crashed. A crash counts once even if several requests with
   * the same prompt and schema were in progress in the process.
   */
  const crashed = new LRUCache<string, Set<number>>({ max: maxRemembered, ttl: refusalMs })
  return {
    note(modelPath: string, generation: Generation, { pid }: Runtime) {
      const key = toKey(modelPath, generation)
      crashed.set(key, new Set(crashed.get(key)).add(pid))
    },
    /** Throws a `Fault` if requests with the same prompt and schema have crashed this model too often. */
    refuse(modelPath: string, generation: Generation) {
      if (crashed.size === 0) return // usually, no process has crashed, and the request need not be hashed
      if ((crashed.get(toKey(modelPath, generation))?.size ?? 0) < maxCrashes) return
      const message = `requests with this prompt and schema have crashed the model's process ${maxCrashes} times: try again in a minute`
      throw new Fault('crashes_model', message, { retryAfterSeconds: refusalMs / 1000 })
    },
  }
}

/** Requests are considered equal if they have the same model, prompt and schema. */
const toKey = (modelPath: string, { prompt, form }: Generation) =>
  createHash('sha256')
    .update(JSON.stringify([modelPath, prompt, form ?? null]))
    .digest('hex')

type Options = {
  modelPath: string
  crashes: CrashLog
  /** Uses the model again, in a new process. */
  useAgain: () => Promise<Disposable & { runtime: Runtime }>
}

/**
 * Wraps a runtime so that a request goes to a new process if the current one has exited before the request is sent. A
 * request that is in progress when the process exits is not retried, because the request may have caused the crash.
 */
export function survivingRuntime(
  runtime: Runtime,
  { modelPath, crashes, useAgain }: Options,
): Runtime {
  let hasEnded = false
  runtime.ended.then(() => {
    hasEnded = true
  })

  async function* attempt(
    used: Runtime,
    generation: Generation,
    signal: AbortSignal,
  ): AsyncGenerator<Piece, Finish> {
    let isAnswered = false
    const steps = used.generate(generation, signal)
    try {
      for (;;) {
        const step = await steps.next()
        if (step.done) return step.value
        isAnswered ||= !isEmpty(step.value)
        yield step.value
      }
    } catch (error) {
      const isCrash = hasCode(error, 'model_lost') && !signal.aborted && !isAnswered
      if (isCrash && (await used.ended) !== undefined) crashes.note(modelPath, generation, used)
      throw error
    } finally {
      await (steps as AsyncGenerator<Piece, Finish | undefined>).return(undefined)
    }
  }

  async function* generate(
    generation: Generation,
    signal: AbortSignal,
  ): AsyncGenerator<Piece, Finish> {
    crashes.refuse(modelPath, generation)
    if (!hasEnded) return yield* attempt(runtime, generation, signal)
    using again = await useAgain()
    return yield* attempt(again.runtime, generation, signal)
  }

  return { ...runtime, generate }
}
