import { setTimeout as sleep } from 'node:timers/promises'
import { startThread, type Thread, terminateThread } from './start-thread.ts'

/** Limits for one call. */
export type ThreadLimits = {
  /** Processor time. Unlike elapsed time, it does not depend on what else the machine does. */
  maxCpuMs: number
  /** The memory of the thread's values. */
  maxHeapMb: number
}

/** A call took too much time or memory. The message completes a sentence about the work, such as `rendering it`. */
export class ThreadLimitError extends Error {
  override name = 'ThreadLimitError'
}

/** A thread that has one method. */
export type LimitedThread<Argument, Result> = (argument: Argument) => Promise<Result>

/** How often the processor time of the thread is checked. */
const checkMs = 250

/**
 * Returns a function that calls `method` of the module `name` in a thread, for work that strangers determine, such as
 * programs in files. The thread is started by the first call, and serves one call after another. A call that exceeds a
 * limit rejects with a `ThreadLimitError`. Its thread is terminated, and the next call starts another one. An idle
 * thread does not keep the process running.
 *
 * A thread cannot be terminated during a call of a built-in function, such as a search in a long text, and a single very
 * large allocation would end the process. Such operations must be limited in the thread itself.
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

/** Terminates a thread when it has used too much processor time since this call. */
function watchCpu(thread: Thread<unknown>, maxCpuMs: number) {
  const stop = new AbortController()
  let isOver = false

  async function watch() {
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

  watch().catch(() => undefined) // the call has ended, or the thread, and then the call rejects with the reason
  return { isOver: () => isOver, stop: () => stop.abort() }
}

const isOutOfMemory = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
