import type { Worker } from 'node:worker_threads'
import { type Methods, openRpc, type Rpc, threadPort } from '@shoal/core/rpc'
import { startWorker } from './start-worker.ts'

/** A thread that serves the methods `Theirs`. */
export type Thread<Theirs> = { worker: Worker; rpc: Rpc<Theirs> }

/**
 * Starts the module `name` next to `parentUrl` as a thread, from source or from the build. Its `serveParent` receives `setup`,
 * and it can call `ours`. An uncaught error ends the thread and is emitted as the worker's `error` event.
 */
export function startThread<Theirs>(
  name: string,
  parentUrl: string,
  setup: unknown,
  ours?: Methods,
): Thread<Theirs> {
  const worker = startWorker(name, parentUrl, {
    workerData: setup,
    resourceLimits: { maxYoungGenerationSizeMb: 4 }, // the threads allocate few objects; the default may grow to 48 MB
  })
  return { worker, rpc: openRpc(threadPort(worker), ours) }
}

/** Resolves when a thread has loaded its modules or has ended. */
export async function untilLoaded({ rpc }: Thread<unknown>): Promise<void> {
  await rpc.ready.catch(() => undefined) // callers of its methods get the reason
}

/**
 * Fails everything that waits for a thread, and terminates it once it has loaded: interrupting the loading of a native addon
 * aborts the process.
 */
export async function terminateThread(thread: Thread<unknown>): Promise<void> {
  thread.rpc.close(new Error('the thread was stopped'))
  await untilLoaded(thread)
  await thread.worker.terminate()
}

/**
 * Asks a thread to finish, and terminates it afterwards, or if that takes longer than `timeoutMs` once it has loaded. If its
 * `close` fails, rejects with that error once the thread has ended. A thread that ended earlier or took too long is not an
 * error here: the worker's `error` event has the reason.
 */
export async function closeThread(
  thread: Thread<{ close(): Promise<void> }>,
  timeoutMs: number,
): Promise<void> {
  let failure: { error: unknown } | undefined
  const closing = thread.rpc.call('close').catch((error: unknown) => {
    if (!thread.rpc.isClosed) failure = { error } // otherwise the error only says that the connection is closed
  })
  await untilLoaded(thread)
  const overdue = setTimeout(() => terminateThread(thread), timeoutMs)
  await closing
  clearTimeout(overdue)
  await terminateThread(thread)
  if (failure) throw failure.error
}
