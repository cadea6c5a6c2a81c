import { setTimeout as sleep } from 'node:timers/promises'
import { startThread, type Thread, terminateThread } from './start-thread.ts'

/** Limits for one call. */
export type ThreadLimits = {
  /** Maximum processor time. Unlike elapsed time, it does not depend on the load of the machine. */
  maxCpuMs: number
  /** Maximum size of the thread's JavaScript heap, not counting its young generation, which can take another 16 MiB. */
  maxHeapMb: number
}

/**
 * A call exceeded a limit. The message has no subject, so callers must add one: `the template takes more than 1 s of
 * processor time`.
 */
export class ThreadLimitError extends Error {
  override name = 'ThreadLimitError'
}

/** A function that calls the only method of a thread. */
export type LimitedThread<Argument, Result> = (argument: Argument) => Promise<Result>

/** How often the thread's processor time is checked. */
const checkMs = 250

/**
 * Returns a function that calls `method` of the module `name` in a thread. Use it for work whose cost depends on
 * untrusted input, such as rendering the template in a model file. The first call starts the thread, which serves one
 * call after another. A call that exceeds a limit rejects with a `ThreadLimitError`, and its thread is terminated. The
 * next call then starts a new thread. An idle thread does not keep the process running.
 *
 * The limits do not cover two cases, which the module itself must prevent. A thread cannot be terminated while a
 * built-in function runs, such as a search in a long string. A single very large allocation crashes the whole process.
 */
export function limitedThread<Argument, Result>(
  { name, parentUrl, setup }: { name: string; parentUrl: string; setup?: unknown },
  method: string,
  { maxCpuMs, maxHeapMb }: ThreadLimits,
): LimitedThread<Argument, Result> {
  type Methods = Record<string, (argument: Argument) => Result>
  let thread: Thread<Methods> | undefined
  let previous: Promise<unknown> = Promise.resolve()

  function start(): Thread<Methods> {
    const started = startThread<Methods>(name, parentUrl, setup, {
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMb, maxYoungGenerationSizeMb: 16 },
    })
    started.worker.unref()
    started.worker.on('error', () => undefined) // the pending call rejects with the same error
    return started
  }

  async function call(argument: Argument): Promise<Result> {
    if (!thread || thread.rpc.isClosed) thread = start()
    const watch = watchCpu(thread, maxCpuMs)
    try {
      return (await thread.rpc.call(method, argument)) as Result
    } catch (error) {
      if (watch.isOver()) {
        throw new ThreadLimitError(`takes more than ${maxCpuMs / 1000} s of processor time`)
      }
      if (isOutOfMemory(error))
        throw new ThreadLimitError(`takes more than ${maxHeapMb} MiB of memory`)
      throw error
    } finally {
      watch.stop()
    }
  }

  return (argument) => {
    const result = previous.then(() => call(argument))
    previous = result.catch(() => undefined) // the caller handles the error
    return result
  }
}

/**
 * Terminates a thread when it has used more than `maxCpuMs` of processor time since the first check. The first check is
 * made `checkMs` after this call or, if the thread is still loading, `checkMs` after it has loaded.
 */
function watchCpu(thread: Thread<unknown>, maxCpuMs: number) {
  const stop = new AbortController()
  let isOver = false

  async function watch() {
    await thread.rpc.ready // before that, the thread's processor time cannot be read
    let startMs: number | undefined
    for (;;) {
      await sleep(checkMs, undefined, { signal: stop.signal })
      const { user, system } = await thread.worker.cpuUsage()
      const cpuMs = (user + system) / 1000
      startMs ??= cpuMs
      isOver = !stop.signal.aborted && cpuMs - startMs > maxCpuMs
      if (isOver) return terminateThread(thread)
    }
  }

  watch().catch((error) => {
    const hasEnded = thread.rpc.isClosed || error.code === 'ERR_WORKER_NOT_RUNNING'
    if (stop.signal.aborted || hasEnded) return // if the thread has ended, the call rejects with the reason
    thread.rpc.close(error) // a thread that cannot be watched must not continue
    void thread.worker.terminate()
  })
  return { isOver: () => isOver, stop: () => stop.abort() }
}

const isOutOfMemory = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
