/** Sends requests again if their model's process exited before it had answered anything. */
import { createHash } from 'node:crypto'
import { hasCode } from '@shoal/core/errors'
import { LRUCache } from 'lru-cache'
import { Fault } from '../errors.ts'
import type { Finish, Generation, Piece, Runtime } from '../runtime/runtime.ts'

/** After this many crashes, an equal request is refused until `refusalMs` have passed. */
const maxCrashes = 2
const refusalMs = 60_000
const maxRemembered = 1_000

export type CrashLog = ReturnType<typeof openCrashLog>

/** Records the requests during which a model's process crashed. */
export function openCrashLog() {
  /** The IDs of the processes that each request has crashed. A set, because equal requests may share a process. */
  const crashed = new LRUCache<string, Set<number>>({ max: maxRemembered, ttl: refusalMs })
  return {
    note(modelPath: string, generation: Generation, { pid }: Runtime) {
      const key = toKey(modelPath, generation)
      crashed.set(key, new Set(crashed.get(key)).add(pid))
    },
    /** Throws a `Fault` if an equal request has crashed this model too often. */
    refuse(modelPath: string, generation: Generation) {
      if (crashed.size === 0) return // the usual case: nothing is hashed
      if ((crashed.get(toKey(modelPath, generation))?.size ?? 0) < maxCrashes) return
      const message = `an equal request has crashed the model ${maxCrashes} times: try again in a minute`
      throw new Fault('crashes_model', message, { retryAfterSeconds: refusalMs / 1000 })
    },
  }
}

/** Requests are considered equal if they have the same model, prompt and schema. */
const toKey = (modelPath: string, { prompt, json }: Generation) =>
  createHash('sha256')
    .update(JSON.stringify([modelPath, prompt, json ?? null]))
    .digest('hex')

type Options = {
  modelPath: string
  crashes: CrashLog
  /** Uses the model again, in a new process. */
  useAgain: () => Promise<Disposable & { runtime: Runtime }>
}

/**
 * A runtime that sends a request again, once, if the process crashes before it has yielded part of the answer. It does
 * not do so if the model was unloaded on purpose.
 */
export function sendAgain(runtime: Runtime, { modelPath, crashes, useAgain }: Options): Runtime {
  /** Throws `Unanswered` if the process crashes before it has yielded anything. */
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
        isAnswered = true
        yield step.value
      }
    } catch (error) {
      if (!hasCode(error, 'model_lost') || signal.aborted || isAnswered) throw error
      if ((await used.ended) === undefined) throw error // the model was unloaded on purpose
      crashes.note(modelPath, generation, used)
      throw new Unanswered(error)
    } finally {
      await (steps as AsyncGenerator<Piece, Finish | undefined>).return(undefined)
    }
  }

  async function* generate(
    generation: Generation,
    signal: AbortSignal,
  ): AsyncGenerator<Piece, Finish> {
    crashes.refuse(modelPath, generation)
    try {
      return yield* attempt(runtime, generation, signal)
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error
    }
    using again = await useAgain()
    try {
      return yield* attempt(again.runtime, generation, signal)
    } catch (error) {
      throw error instanceof Unanswered ? error.cause : error
    }
  }

  return { ...runtime, generate }
}

class Unanswered extends Error {
  constructor(cause: unknown) {
    super('the process exited before it had answered anything', { cause })
  }
}
