import type { ResourceLimits, Worker } from 'node:worker_threads'
import { type Methods, openRpc, type Rpc, threadPort } from '@shoal/core/rpc'
import { startWorker } from './start-worker.ts'

/** A thread that serves the methods `Theirs`. */
export type Thread<Theirs> = { worker: Worker; rpc: Rpc<Theirs> }

/**
 * Starts the module `name`, in the folder of `parentUrl`, as a thread. The module's `serveParent` receives `setup`, and
 * the module can call the methods in `ours`. An uncaught error ends the thread and is emitted as the worker's
 * `error` event. `resourceLimits` limits the thread's memory.
 */
export function startThread<Theirs>(
  name: string,
  parentUrl: string,
  setup: unknown,
  { ours, resourceLimits }: { ours?: Methods; resourceLimits?: ResourceLimits } = {},
): Thread<Theirs> {
  const worker = startWorker(name, parentUrl, {
    workerData: setup,
    // Most threads allocate few objects, so they do not need the default of up to 48 MB for new objects.
    resourceLimits: { maxYoungGenerationSizeMb: 4, ...resourceLimits },
  })
  return { worker, rpc: openRpc(threadPort(worker), ours) }
}

/** Resolves when a thread has loaded its modules or has ended. */
export async function untilLoaded({ rpc }: Thread<unknown>): Promise<void> {
  await rpc.ready.catch(() => undefined) // if the thread has ended, calls to its methods reject with the reason
}

/**
 * Rejects all pending calls to a thread, and terminates the thread after it has loaded. Terminating it earlier could
 * interrupt the loading of a native addon, which would abort the process.
 */
export async function terminateThread(thread: Thread<unknown>): Promise<void> {
  thread.rpc.close(new Error('the thread was stopped'))
  await untilLoaded(thread)
  await thread.worker.terminate()
}

/**
 * Asks a thread to close, then terminates it. If closing takes longer than `timeoutMs` after the thread has loaded,
 * terminates it without waiting any longer. If the thread's `close` fails, rejects with that error after the thread has
 * ended. Does not reject if the thread took too long or ended earlier. If an error ended the thread, the worker's
 * `error` event reports that error.
 */
export async function closeThread(
  thread: Thread<{ close(): Promise<void> }>,
  timeoutMs: number,
): Promise<void> {
  let failure: { error: unknown } | undefined
  const closing = thread.rpc.call('close').catch((error: unknown) => {
    if (!thread.rpc.isClosed) failure = { error } // if the connection is closed, the error only reports that
  })
  await untilLoaded(thread)
  const overdue = setTimeout(() => terminateThread(thread), timeoutMs)
  await closing
  clearTimeout(overdue)
  await terminateThread(thread)
  if (failure) throw failure.error
}
