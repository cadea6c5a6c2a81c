/**
 * Handles the exit of a model's process. A request without output is sent once more, to a new process. A request that
 * keeps crashing the process is refused for a while.
 */
import { createHash } from 'node:crypto'
import { untilAborted } from '@shoal/core/async'
import { type AppError, hasCode } from '@shoal/core/errors'
import { LRUCache } from 'lru-cache'
import { Fault } from '../errors.ts'
import { isEmpty, type Piece, type Runtime } from '../runtime/runtime.ts'

/** After this many crashes, requests with the same input are refused until `refusalMs` have passed. */
const maxCrashes = 2
const refusalMs = 60_000
const maxRemembered = 1_000

/** What a request asks of a model. Requests with the same input have the same effect on the model's process. */
type Input = { modelPath: string; input: unknown }
type Request = Input & { isAdmitted: boolean }

export type CrashLog = ReturnType<typeof openCrashLog>

/** Records which requests crash a model's process before they have any output. */
export function openCrashLog() {
  /** For each input, the IDs of the processes that it has crashed. */
  const crashed = new LRUCache<string, Set<number>>({ max: maxRemembered, ttl: refusalMs })
  /** The requests in progress in each process, and those that were in progress when the process ended. */
  const inProgress = new WeakMap<Runtime['ended'], Set<Input>>()
  /** For each model, when its last retry ends. */
  const retries = new Map<string, Promise<void>>()

  function requestsIn({ ended }: Runtime): Set<Input> {
    const requests = inProgress.get(ended) ?? new Set()
    inProgress.set(ended, requests)
    return requests
  }

  return {
    requestsIn,
    /** Blames a request for a crash, unless the process also had other requests, any of which may be the cause. */
    note(request: Input, process: Runtime) {
      const key = toKey(request)
      if ([...requestsIn(process)].some((other) => toKey(other) !== key)) return
      crashed.set(key, new Set(crashed.get(key)).add(process.pid))
    },
    /** Throws a `Fault` if requests with the same input have crashed this model too often. */
    refuse(request: Input) {
      if (crashed.size === 0) return // usually, no process has crashed, and the request need not be hashed
      if ((crashed.get(toKey(request))?.size ?? 0) < maxCrashes) return
      const message = `requests with this prompt and schema have crashed the model's process ${maxCrashes} times: try again in a minute`
      throw new Fault('crashes_model', message, { retryAfterSeconds: refusalMs / 1000 })
    },
    /**
     * Waits for the model's earlier retries. After a crash, retries run one at a time, which shows which request is the
     * cause.
     */
    async takeTurn(modelPath: string, signal: AbortSignal): Promise<Disposable> {
      const earlier = retries.get(modelPath) ?? Promise.resolve()
      const { promise, resolve } = Promise.withResolvers<void>()
      retries.set(
        modelPath,
        earlier.then(() => promise),
      )
      await untilAborted(signal, earlier).catch((error) => {
        resolve()
        throw error
      })
      return { [Symbol.dispose]: resolve }
    },
  }
}

const toKey = ({ modelPath, input }: Input) =>
  createHash('sha256')
    .update(JSON.stringify([modelPath, input]))
    .digest('hex')

type Options = {
  modelPath: string
  crashes: CrashLog
  /** Uses the model again, in a new process. */
  useAgain: () => Promise<Disposable & { runtime: Runtime }>
}

type Send<End> = (to: Runtime) => AsyncGenerator<Piece, End>

/** What became of a request: its result, or why the process ended before the request had any output. */
type Outcome<End> = { end: End } | { lost: AppError<'model_lost'> }

const never = new AbortController().signal

/**
 * Wraps a runtime so that a request is sent to a new process if the current one ends before the request has any output.
 * A request whose process was unloaded is not sent again, unless the process had already ended when the request began.
 */
export function survivingRuntime(
  runtime: Runtime,
  { modelPath, crashes, useAgain }: Options,
): Runtime {
  let hasEnded = false
  runtime.ended.then(() => {
    hasEnded = true
  })

  async function* attempt<End>(
    used: Runtime,
    send: Send<End>,
    request: Request,
  ): AsyncGenerator<Piece, Outcome<End>> {
    const requests = crashes.requestsIn(used)
    requests.add(request)
    let isLost = false
    let isAnswered = false
    const steps: AsyncGenerator<Piece, End | undefined> = send(used)
    try {
      for (;;) {
        const step = await steps.next()
        if (step.done) return { end: step.value as End }
        if (isEmpty(step.value) && request.isAdmitted) continue
        request.isAdmitted = true
        isAnswered ||= !isEmpty(step.value)
        yield step.value
      }
    } catch (error) {
      isLost = hasCode(error, 'model_lost') && error.details.exit !== undefined
      if (!isLost || isAnswered) throw error
      const lost = error as AppError<'model_lost'>
      if (lost.details.exit === 'crashed') crashes.note(request, used)
      return { lost }
    } finally {
      await steps.return(undefined)
      if (!isLost) requests.delete(request)
    }
  }

  async function* survive<End>(
    input: unknown,
    send: Send<End>,
    signal: AbortSignal,
  ): AsyncGenerator<Piece, End> {
    const request = { modelPath, input, isAdmitted: false }
    crashes.refuse(request)
    const first = hasEnded ? undefined : yield* attempt(runtime, send, request)
    if (first && 'end' in first) return first.end
    signal.throwIfAborted()
    const isCrash = first?.lost.details.exit === 'crashed'
    using _turn = isCrash ? await crashes.takeTurn(modelPath, signal) : undefined
    crashes.refuse(request)
    using again = await useAgain()
    const last = yield* attempt(again.runtime, send, request)
    if ('end' in last) return last.end
    throw last.lost
  }

  /** Calls a method that has no output until it resolves. */
  async function call<End>(
    input: unknown,
    send: (to: Runtime) => Promise<End>,
    signal = never,
  ): Promise<End> {
    const steps = survive(
      input,
      // biome-ignore lint/correctness/useYield: the result is the only output
      async function* (used) {
        return await send(used)
      },
      signal,
    )
    return (await steps.next()).value as End
  }

  return {
    ...runtime,
    generate: (generation, signal) =>
      survive(
        [generation.prompt, generation.form ?? null],
        (used) => used.generate(generation, signal),
        signal,
      ),
    embed: (texts, signal, options) =>
      call(texts, (used) => used.embed(texts, signal, options), signal),
    rank: (pairs, signal, options) =>
      call(pairs, (used) => used.rank(pairs, signal, options), signal),
    countTokens: (prompt) => call(prompt, (used) => used.countTokens(prompt)),
    applyTemplate: (prompt) => call(prompt, (used) => used.applyTemplate(prompt)),
    tokenize: (text) => call(text, (used) => used.tokenize(text)),
    tokenBytes: (tokens) => call(tokens, (used) => used.tokenBytes(tokens)),
  }
}
